import os

DEBUG = True
MAIL_PASSWORD = "sample-password-not-real"
SESSION_KEY = os.environ.get("SESSION_KEY", "sample-session-key")
