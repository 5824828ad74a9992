import type { CreateExpressContextOptions } from '@trpc/server/adapters/express'
import type { AdminDeps } from './admin-deps.ts'
import type { AdminContext } from './trpc.ts'

/** The session cookie. `__Host-`: secure, of this host alone, for every path (RFC 6265bis §4.1.3). */
const COOKIE = '__Host-paymesh'

/** Reads what a request says about itself. Never throws. */
export function createContextReader(deps: AdminDeps) {
  return async ({ req, res }: CreateExpressContextOptions): Promise<AdminContext> => ({
    requestId: `req_${deps.random.uuid().replaceAll('-', '')}`,
    ip: req.socket.remoteAddress ?? '',
    userAgent: String(req.headers['user-agent'] ?? '').slice(0, 200),
    session: null,
    deps,
    setSessionToken: (token) => {
      const value = token === null ? `${COOKIE}=; Max-Age=0` : `${COOKIE}=${token}`
      res.append('Set-Cookie', `${value}; Path=/; Secure; HttpOnly; SameSite=Strict`)
    },
  })
}
