import type { StartService } from '#services/context.ts'
import { openParts } from '#services/open-parts.ts'
import { createHttpGet } from '#shared/runtime/http/http-get.ts'
import { assembleRates } from './assemble.ts'
import { createJumpConfirmation, TRIPWIRE_SOURCE, TRIPWIRE_URL } from './jump-confirmation.ts'
import { createRateSources } from './rate-sources.ts'

/**
 * The `rates` process: a snapshot every 15 s ± 20 %, the first one at once. Any number may run; a lease lets one of them work.
 */
export const start: StartService = async (context) => {
  const parts = openParts({ ...context, logger: context.logger.child({ service: 'rates' }) })
  const http = createHttpGet({ userAgent: 'Paymesh-Rates/1.0' })
  const { sourceUrls } = context.config.rates
  const stop = assembleRates({
    ...parts,
    sources: createRateSources({ ...parts, http, sourceUrls }),
    jumpConfirmation: createJumpConfirmation({
      ...parts,
      rates: parts.rateSnapshots,
      http,
      baseUrl: sourceUrls[TRIPWIRE_SOURCE] ?? TRIPWIRE_URL,
    }),
    closeSources: () => http.close(),
  })
  return async () => {
    await stop()
    await parts.notifier.close()
  }
}
