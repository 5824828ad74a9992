import { Router } from 'express'
import type { Uses } from '#shared/usecases/uses.ts'
import { handle } from './answers.ts'
import { admit, LIMITS, type LimitDeps } from './limits.ts'

const NAME = /^([0-9a-f]{64})\.webp$/
const YEAR_S = 31_536_000

/** Dependencies of serving logos. */
type LogoDeps = LimitDeps & Uses<'logos'>

/**
 * Merchants' logos under the hash of their bytes: a name never means other bytes, so that browsers and proxies keep them for a year.
 * Sets no cookie. The bytes are our own encoding; the policy is for a browser that would take them for a page.
 */
export function logoRoutes(deps: LogoDeps): Router {
  const router = Router()
  router.get(
    '/:name',
    handle(async (request, response) => {
      await admit(deps, request, LIMITS.read)
      const hash = NAME.exec(String(request.params['name']))?.[1]
      const bytes = hash === undefined ? null : await deps.logos.findByHash(hash)
      response.set('Content-Security-Policy', "default-src 'none'; sandbox")
      if (bytes === null) return void response.status(404).set('Cache-Control', 'no-store').end()
      response
        .set({ 'Cache-Control': `public, max-age=${YEAR_S}, immutable`, 'Content-Type': 'image/webp' })
        .send(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength))
    }),
  )
  return router
}
