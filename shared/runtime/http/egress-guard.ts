import type { UrlGuard } from '#shared/ports/url-guard.ts'
import { isPublicAddress } from './egress-connector.ts'
import { createResolver, type ResolveAll } from './egress-resolver.ts'
import { parseEgressUrl } from './egress-url.ts'

export interface EgressGuardOptions {
  /** The server setting that allows `http://localhost:<port>` for test endpoints. */
  readonly allowLocalhost: boolean
  /** Name look-up; the system's DNS servers by default. */
  readonly resolve?: ResolveAll
}

/**
 * The check of a webhook URL when an endpoint is created. A name with any address that is not public is refused, even
 * others are public; a name that does not resolve is accepted, because the connection is guarded again at every request.
 */
export function createEgressGuard(options: EgressGuardOptions): UrlGuard {
  const resolve = options.resolve ?? createResolver()
  return {
    check: async (url, scope) => {
      const parsed = parseEgressUrl(url, { allowLocalhost: options.allowLocalhost && scope.testOnly })
      if (!parsed.ok) return parsed
      if (parsed.target.localhost) return { ok: true }
      const addresses = await addressesOf(parsed.target.hostname, resolve)
      return addresses.every(isPublicAddress) ? { ok: true } : { ok: false, reason: 'address_not_public' }
    },
  }
}

async function addressesOf(hostname: string, resolve: ResolveAll): Promise<readonly string[]> {
  try {
    return await resolve(hostname)
  } catch {
    return []
  }
}
