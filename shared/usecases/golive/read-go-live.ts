import type { NetworkId } from '#shared/domain/enumerations.ts'
import {
  type GoLiveKind,
  type GoLiveReason,
  type GoLiveResult,
  type GoLiveState,
  goLiveState,
  kindOf,
} from '#shared/domain/golive/go-live.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import type { GoLiveScope } from '#shared/ports/go-live.ts'
import type { KeyMaterial } from '#shared/ports/key-material.ts'
import type { Wallet } from '#shared/ports/wallets.ts'
import { openKeyMaterial } from '#shared/usecases/wallets/key-material.ts'
import type { GoLiveDeps } from './go-live-deps.ts'
import { type GoLiveItem, readGoLiveFacts } from './go-live-items.ts'
import { type PaymentSteps, paymentSteps } from './observe.ts'

/** Index whose address a person compares: wallets show it at once, and it is not the first one, which examples show. */
export const COMPARED_INDEX = 2

/** One item, for people. */
export interface GoLiveLine {
  readonly item: string
  readonly kind: GoLiveKind
  readonly state: GoLiveState
  readonly at: Ms | null
  readonly by: string | null
  /** Why it did not pass; null when it did, and before the first try. */
  readonly reason: GoLiveReason | null
  readonly about: string
  readonly walletId: string | null
  readonly walletKind: Wallet['kind'] | null
  readonly family: Wallet['family'] | null
  /** Where the person's wallet shows the address to enter; null for listed addresses. */
  readonly path: string | null
  readonly network: NetworkId | null
  readonly steps: PaymentSteps | null
}

/** All items of a workspace and mode. */
export interface GoLiveReport {
  readonly lines: readonly GoLiveLine[]
  readonly passed: number
  /** Every item has passed and none is out of date. */
  readonly isReady: boolean
}

/** Reads the stored results; asks no node and stores nothing. */
export async function readGoLive(deps: GoLiveDeps, scope: GoLiveScope): Promise<GoLiveReport> {
  const [facts, stored] = await Promise.all([readGoLiveFacts(deps, scope), deps.goLive.list(scope)])
  const byItem = new Map(stored.map((result) => [result.item, result]))
  const lines = await Promise.all(facts.items.map((item) => lineOf(deps, scope, item, byItem.get(item.item) ?? null)))
  const passed = lines.filter(({ state }) => state === 'passed').length
  return { lines, passed, isReady: passed === lines.length }
}

async function lineOf(
  deps: GoLiveDeps,
  scope: GoLiveScope,
  { item, evidence, wallet, network }: GoLiveItem,
  result: GoLiveResult | null,
): Promise<GoLiveLine> {
  const state = goLiveState(item, result, evidence, deps.clock.now())
  const material = wallet === null ? null : await deps.wallets.findMaterial(wallet.materialId)
  const steps = network === null || state === 'out_of_date' ? null : await paymentSteps(deps, scope, result)
  return {
    ...{ item, kind: kindOf(item), state, network },
    at: result?.at ?? null,
    by: result?.by ?? null,
    reason: state === 'passed' ? null : (result?.reason ?? null),
    about: result?.about ?? '',
    walletId: wallet?.id ?? null,
    walletKind: wallet?.kind ?? null,
    family: wallet?.family ?? null,
    path: material === null ? null : comparedPath(deps, material),
    steps: steps === null ? null : withoutObserved(steps),
  }
}

function withoutObserved({
  observed: _observed,
  ...steps
}: PaymentSteps & { readonly observed: unknown }): PaymentSteps {
  return steps
}

function comparedPath({ addressBook, secretBox }: GoLiveDeps, material: KeyMaterial): string | null {
  if (material.kind !== 'xpub') return null
  const account = addressBook.accountPath(material.family, material.mode, openKeyMaterial(secretBox, material))
  return `${account ?? '…'}/0/${COMPARED_INDEX}`
}
