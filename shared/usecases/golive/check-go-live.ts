import type { GoLiveResult } from '#shared/domain/golive/go-live.ts'
import type { GoLiveScope } from '#shared/ports/go-live.ts'
import type { OperatorAction } from '#shared/usecases/audit/operator-action.ts'
import type { GoLiveDeps } from './go-live-deps.ts'
import { type GoLiveItem, readGoLiveFacts } from './go-live-items.ts'
import {
  type Observation,
  observeBackup,
  observeMail,
  observeNodes,
  observeSecondFactor,
  observeSources,
  observeWebhook,
  paymentSteps,
} from './observe.ts'
import { type GoLiveReport, readGoLive } from './read-go-live.ts'

/**
 * Checks everything that can be observed, stores each result with its date and the person, and one audit row. What a person has to state
 * (an address, where the master key is) stays as it is; a try that is under way moves on as far as it got.
 */
export async function checkGoLive(deps: GoLiveDeps, scope: GoLiveScope, action: OperatorAction): Promise<GoLiveReport> {
  const [facts, stored] = await Promise.all([readGoLiveFacts(deps, scope), deps.goLive.list(scope)])
  const byItem = new Map(stored.map((result) => [result.item, result]))
  const at = deps.clock.now()

  async function observe({ item, network }: GoLiveItem): Promise<Observation | null> {
    const known = byItem.get(item) ?? null
    if (network !== null)
      return known?.outcome === 'passed' ? null : ((await paymentSteps(deps, scope, known))?.observed ?? null)
    switch (item) {
      case 'address':
        return { outcome: 'failed', reason: 'no_wallet', about: '' }
      case 'nodes':
        return await observeNodes(deps, scope, facts)
      case 'second_source':
        return observeSources(deps, scope, facts)
      case 'webhook':
        return await observeWebhook(deps, facts)
      case 'second_factor':
        return observeSecondFactor(facts)
      case 'backup':
        return await observeBackup(deps)
      case 'mail':
        return await observeMail(deps, known)
      default:
        return null
    }
  }

  const results: GoLiveResult[] = []
  for (const entry of facts.items) {
    const found = await observe(entry)
    if (found === null) continue
    const known = byItem.get(entry.item)
    // What a try was about stays its evidence: a wallet that was replaced meanwhile is not proved by it.
    const evidence = known?.ref == null ? entry.evidence : known.evidence
    results.push({ item: entry.item, ...found, at, by: action.actor, evidence, ref: known?.ref ?? null })
  }
  const passed = results.filter(({ outcome }) => outcome === 'passed').length
  await deps.goLive.record(scope, results, {
    audit: {
      id: `golive.checked:${action.opId}`,
      at,
      actor: action.actor,
      action: 'golive.checked',
      subject: scope.workspaceId,
      ...scope,
      detail: { checked: results.length, passed },
    },
  })
  return await readGoLive(deps, scope)
}
