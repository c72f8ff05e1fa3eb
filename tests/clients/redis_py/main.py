"""redis-py against the server: its synchronous and its asyncio interface, values of all types, TLS; RESP2 and RESP3."""
import sys

import asyncio_checks
import collection_checks
import sync_checks
import tls_checks

results = [module.check.run() for module in (sync_checks, collection_checks, asyncio_checks, tls_checks)]
passed, failed = map(sum, zip(*results))
print(f"{passed} passed, {failed} failed")
sys.exit(1 if failed else 0)
