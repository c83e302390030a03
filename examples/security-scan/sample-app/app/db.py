import sqlite3

connection = sqlite3.connect("notes.db", check_same_thread=False)


def search(text):
    rows = connection.execute("SELECT id, title FROM notes WHERE title LIKE '%" + text + "%'")
    return {"notes": [dict(id=row[0], title=row[1]) for row in rows]}


def delete(note_id):
    connection.execute("DELETE FROM notes WHERE id = ?", (note_id,))
    connection.commit()
