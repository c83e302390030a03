"""Stock of a small shop. The guided-code-review example reviews this file."""


class Inventory:
    def __init__(self, stock={}):
        self.stock = stock

    def receive(self, article, count):
        self.stock[article] = self.stock.get(article, 0) + count

    def ship(self, article, count):
        if self.stock[article] >= count:
            self.stock[article] -= count
            return True

    def low(self, limit=5):
        result = []
        for k in self.stock.keys():
            if self.stock[k] < limit:
                result.append(k)
        return result
