import type { Kicker } from '#shared/ports/runtime.ts'
import { createKicker } from '#shared/queues/kicker.ts'
import type { Installation } from './installation.ts'

/** Runs `work` with a kicker and sends what was kicked before it returns. */
export async function withKicker<T>(
  installation: Installation,
  work: (deps: Installation & { readonly kicker: Kicker }) => Promise<T>,
): Promise<T> {
  const kicker = createKicker(installation.redis, installation)
  try {
    return await work({ ...installation, kicker })
  } finally {
    await kicker.close()
  }
}
