import type { CreateExpressContextOptions } from '@trpc/server/adapters/express'
import { clientAddress } from '#shared/runtime/http/http-server.ts'
import { readSession } from '#shared/usecases/accounts/operator-sessions.ts'
import type { AdminDeps } from './assemble.ts'
import type { AdminContext } from './trpc.ts'

/** The session cookie. `__Host-`: secure, of this host alone, for every path (RFC 6265bis §4.1.3). Ends with the browser. */
const SESSION_COOKIE = '__Host-paymesh'
/** The token of a browser that has logged in. It proves nothing; it only exempts its owner from the delay caused by strangers. */
const DEVICE_COOKIE = '__Host-paymesh-browser'
const ATTRIBUTES = 'Path=/; Secure; HttpOnly; SameSite=Strict'
const DEVICE_LIFE_S = 400 * 86_400
/** Form of our cookies: 256 bits in base64url. */
const TOKEN = /^[A-Za-z0-9_-]{43}$/
/** A page reports how long its person has been idle; above this, its requests are automatic ones. */
const AWAY_AFTER_S = 60

/** Reads the identity and origin of a request. A bad cookie means no session; rejects only when the store does not respond. */
export function createContextReader(deps: AdminDeps) {
  const { trustedProxies } = deps.config
  return async ({ req, res }: CreateExpressContextOptions): Promise<AdminContext> => {
    const cookies = readCookies(req.headers.cookie)
    const token = cookies.get(SESSION_COOKIE) ?? ''
    const isLive = req.headers.accept?.includes('text/event-stream') === true
    const isPerson = !isLive && !(Number(req.headers['x-idle-seconds'] ?? 0) > AWAY_AFTER_S)
    return {
      requestId: `req_${deps.random.uuid().replaceAll('-', '')}`,
      ip: clientAddress(req, trustedProxies),
      userAgent: String(req.headers['user-agent'] ?? '').slice(0, 200),
      shownTo: req.headers['x-user-id'] || undefined,
      session: TOKEN.test(token) ? await readSession(deps, token, { isPerson }) : null,
      device: cookies.get(DEVICE_COOKIE)?.match(TOKEN)?.[0] ?? null,
      deps,
      setSessionToken: (next) => {
        res.append('Set-Cookie', `${SESSION_COOKIE}=${next ?? ''}; ${next === null ? 'Max-Age=0; ' : ''}${ATTRIBUTES}`)
      },
      setDevice: (device) => {
        res.append('Set-Cookie', `${DEVICE_COOKIE}=${device}; Max-Age=${DEVICE_LIFE_S}; ${ATTRIBUTES}`)
      },
    }
  }
}

/** The first value of each name: browsers send the cookie of the most specific path first, and ours all have `/`. */
function readCookies(header: string | undefined): ReadonlyMap<string, string> {
  const cookies = new Map<string, string>()
  for (const pair of header?.split(';') ?? []) {
    const [name = '', ...value] = pair.split('=')
    if (!cookies.has(name.trim())) cookies.set(name.trim(), value.join('=').trim())
  }
  return cookies
}
