"""What a lab would write to serve frames of a tar shard: Flask + tarfile, its index kept.
TAR=/data/frames.tar gunicorn -k gthread -w 2 --threads 4 -b 127.0.0.1:8104 peer_tar:app

GET /frame/<number>   the bytes of the member %06d.jpg
"""
import os
import tarfile
import threading

from flask import Flask, Response

app = Flask(__name__)
TAR = tarfile.open(os.environ["TAR"])
MEMBERS = {m.name: m for m in TAR}
lock = threading.Lock()  # they share one file


@app.get("/frame/<int:number>")
def frame(number):
    with lock:
        data = TAR.extractfile(MEMBERS[f"{number:06}.jpg"]).read()
    return Response(data, mimetype="image/jpeg")


@app.get("/hello")
def hello():
    return Response(b"a" * 1024, mimetype="application/json")
