// The container's health check: status 0 while the process next to it is alive (`/livez`; an unavailable store never fails it).
const port = process.env.PAYMESH_METRICS_PORT || '4110'
const host = process.env.PAYMESH_API_HOST || '127.0.0.1'
// A process that listens on every address is asked at this one.
const address = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host.includes(':') ? `[${host}]` : host
const live = await fetch(`http://${address}:${port}/livez`, { signal: AbortSignal.timeout(4_000) }).then(
  (response) => response.ok,
  () => false,
)
process.exit(live ? 0 : 1)
