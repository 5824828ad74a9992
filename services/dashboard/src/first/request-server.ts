import { withServerTime } from './server-time.ts'

/** Longer than the server's slowest answer takes, that about a wallet's balances (services/admin/assemble.ts). */
const ANSWER_MS = 60_000

/** `fetch` from our own server. Rejects with a `TimeoutError` where a minute has brought no whole answer, as from a server that hangs. */
export const requestServer = async (address: URL | RequestInfo, options: object = {}): Promise<Response> =>
  withServerTime(await fetch(address, { ...options, signal: AbortSignal.timeout(ANSWER_MS) }))
