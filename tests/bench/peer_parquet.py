"""What a lab would write to serve LeRobot rows: Flask + pyarrow, the files kept as they are.
ROOT=/data/lerobot/bench gunicorn -k gthread -w 2 --threads 4 -b 127.0.0.1:8103 peer_parquet:app

GET /slice/<episode>?a=0&b=100&fmt=npy   observation.state rows of one episode
"""
import io
import os

import numpy as np
import pyarrow.parquet as pq
from flask import Flask, Response, request

app = Flask(__name__)
ROOT = os.environ["ROOT"]


@app.get("/slice/<int:ep>")
def cut(ep):
    a, b = int(request.args.get("a", 0)), int(request.args["b"])
    path = f"{ROOT}/data/chunk-{ep // 1000:03d}/episode_{ep:06d}.parquet"
    column = pq.read_table(path, columns=["observation.state"], use_threads=False).column(0).slice(a, b - a).combine_chunks()
    x = column.flatten().to_numpy().reshape(len(column), -1)
    out = io.BytesIO()
    np.save(out, x)
    return Response(out.getvalue(), mimetype="application/octet-stream")
