import type { ServiceContext } from '#services/context.ts'
import { openParts } from '#services/open-parts.ts'
import { createCatalog } from '#shared/chains/catalog.ts'
import { createEgressGuard } from '#shared/runtime/http/egress-guard.ts'
import { createKeyHasher, createSecretBox } from '#shared/runtime/secrets/secret-box.ts'
import { createListCursor } from '#shared/usecases/requests/list-cursor.ts'
import type { ApiParts } from './assemble.ts'

/** The real parts of the API on open connections. */
export function openApiParts(context: ServiceContext): ReturnType<typeof openParts> & ApiParts {
  const { config, signals, metrics } = context
  return {
    ...openParts(context),
    catalog: createCatalog(config.networks, context.paces),
    hasher: createKeyHasher(config.secrets.keyPepper),
    limiter: signals.createRateLimiter(metrics),
    secretBox: createSecretBox(config.secrets.masterKey),
    listCursor: createListCursor(config.secrets.keyPepper),
    urlGuard: createEgressGuard({ allowLocalhost: config.webhooks.allowLocalhost }),
    checkAnswers: config.env !== 'production',
    trustedProxies: config.trustedProxies,
    publicUrl: config.api.publicUrl,
    pagesDir: config.pagesDir,
    urls: { checkoutBaseUrl: config.checkout.baseUrl },
  }
}
