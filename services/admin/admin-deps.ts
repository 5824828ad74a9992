import type { ServiceContext } from '#services/context.ts'
import type { Config } from '#shared/config/schema.ts'
import { createWorkspaceRepository } from '#shared/db/workspaces/workspace-repository.ts'
import type { Ambient, Kicker } from '#shared/ports/runtime.ts'
import { type AccountDeps, buildAccountDeps } from './deps/account-deps.ts'
import { buildInstanceDeps, type InstanceDeps } from './deps/instance-deps.ts'
import { buildMoneyDeps, type MoneyDeps } from './deps/money-deps.ts'
import { buildOverviewDeps, type OverviewDeps } from './deps/overview-deps.ts'
import { createStreamSlots, type StreamSlots } from './stream-slots.ts'

/** Everything the operators' interface works with; `main.ts` wires the real parts and tests may replace single ones. */
export interface AdminDeps extends Ambient, AccountDeps, MoneyDeps, InstanceDeps, OverviewDeps {
  readonly config: Config
  readonly kicker: Kicker
  readonly streams: StreamSlots
  readonly workspaces: ReturnType<typeof createWorkspaceRepository>
}

/** Wires the real parts on open connections. Opens nothing of its own and holds only caches. */
export function buildAdminDeps(context: ServiceContext, kicker: Kicker): AdminDeps {
  const { clock, random, logger, metrics, config } = context
  return {
    clock,
    random,
    logger,
    metrics,
    config,
    kicker,
    streams: createStreamSlots(),
    workspaces: createWorkspaceRepository(context.db),
    ...buildAccountDeps(context, kicker),
    ...buildMoneyDeps(context, kicker),
    ...buildInstanceDeps(context, kicker),
    ...buildOverviewDeps(context),
  }
}
