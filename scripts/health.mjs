// The container's health check: status 0 while the process next to it is alive (`/livez`; an unavailable store never fails it).
const port = process.env.PAYMESH_METRICS_PORT || '4110'
const live = await fetch(`http://127.0.0.1:${port}/livez`, { signal: AbortSignal.timeout(4_000) }).then(
  (response) => response.ok,
  () => false,
)
process.exit(live ? 0 : 1)
