import type { StartService } from '#services/context.ts'
import { openParts } from '#services/open-parts.ts'
import { assembleOutbox } from './assemble.ts'

/** Turns saved outbox entries into events, deliveries, mails, exceptions and audit rows, each exactly once. */
export const start: StartService = async (context) => {
  const parts = openParts(context)
  const stop = assembleOutbox({ ...parts, urls: { checkoutBaseUrl: context.config.checkout.baseUrl } })
  return async () => {
    await stop()
    await parts.notifier.close()
  }
}
