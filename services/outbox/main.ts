import type { StartService } from '#services/context.ts'
import { openParts } from '#services/open-parts.ts'
import { assembleOutbox } from './assemble.ts'

/**
 * The former outbox process, for upgrades only: it relays as before, without first attempts, beside `webhooks` of this version, which relays
 * itself. Each event and delivery exists once, whoever relays it.
 */
export const start: StartService = async (context) => {
  const parts = openParts(context)
  context.logger.warn({}, 'outbox is part of webhooks: end this process and remove it once webhooks runs this version')
  const stop = assembleOutbox({ ...parts, urls: { checkoutBaseUrl: context.config.checkout.baseUrl } })
  return async () => {
    await stop()
    await parts.notifier.close()
  }
}
