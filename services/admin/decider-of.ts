import type { Workspace } from '#shared/ports/workspaces.ts'
import type { Decider } from '#shared/usecases/workspaces/large-sum.ts'
import { type AdminContext, demandStepUp } from './trpc.ts'

/** Context of a procedure that decides about a workspace's money. */
export type DecisionContext = Pick<AdminContext, 'session' | 'machine' | 'deps' | 'ip'> & {
  readonly workspace: Workspace
  readonly actor: string
}

/** The person of a request, who needs a fresh code for a sum above the workspace's threshold, and what weighing their decision needs. */
export function deciderOf(ctx: DecisionContext, { reason }: { readonly reason?: string | undefined }) {
  const { workspace, actor, ip, deps } = ctx
  const { workspaces, ownersOf } = deps.instance
  const { rates, catalog } = deps.money
  const by: Decider = {
    ...{ workspace, actor, from: ip },
    reason: reason === '' ? undefined : reason,
    demand: () => demandStepUp(ctx),
  }
  return { parts: { rates, catalog, clock: deps.clock, workspaces, ownersOf }, by }
}
