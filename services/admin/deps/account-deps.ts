import type { ServiceContext } from '#services/context.ts'
import type { Kicker } from '#shared/usecases/ports/runtime.ts'

/** What the routers of this part work with, beside what all of them have. */
// biome-ignore lint/suspicious/noEmptyInterface: filled by this part's routers
export interface AccountDeps {}

/** Wires the real parts on open connections. */
export function buildAccountDeps(_context: ServiceContext, _kicker: Kicker): AccountDeps {
  return {}
}
