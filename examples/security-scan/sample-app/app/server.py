"""A small note service. It is wrong on purpose: the security-scan example looks for its mistakes."""

import subprocess

from flask import Flask, request

from . import db, settings

app = Flask(__name__)


@app.get("/notes")
def find_notes():
    return db.search(request.args.get("q", ""))


@app.delete("/notes/<note_id>")
def delete_note(note_id):
    # No check of who asks.
    db.delete(note_id)
    return "", 204


@app.post("/export")
def export_notes():
    name = request.form["name"]
    subprocess.run(f"tar czf /tmp/{name}.tgz notes", shell=True)
    return {"file": f"/tmp/{name}.tgz"}


if __name__ == "__main__":
    app.run(host="0.0.0.0", debug=settings.DEBUG)
