import type { Wallet } from '#shared/ports/wallets.ts'
import { type KeyStanding, keyStanding } from '#shared/usecases/wallets/key-history.ts'
import { GAP_LOOK_BACK, USUAL_GAP_LIMIT, walletGap } from '#shared/usecases/wallets/wallet-gap.ts'
import { countPool } from '#shared/usecases/wallets/warn-low-pools.ts'
import type { Installation } from './session/installation.ts'

/** How far a wallet is used; null where a figure does not apply to its kind. */
export interface WalletUse {
  readonly last_paid_index: number | null
  readonly next_index: number | null
  readonly required_gap: number | null
  /** False when the gap is at least this: older addresses were not read. */
  readonly required_gap_is_complete: boolean | null
  readonly addresses: number | null
  readonly free: number | null
  readonly script_type: string | null
  /** First index that is ever offered. */
  readonly start_index: number | null
  /** Highest index that was used before the key was added. */
  readonly last_used_index: number | null
  /** Networks on which earlier use is still searched; nothing is offered until it is empty. */
  readonly searching: readonly string[]
}

const NOTHING: WalletUse = {
  last_paid_index: null,
  next_index: null,
  required_gap: null,
  required_gap_is_complete: null,
  addresses: null,
  free: null,
  script_type: null,
  start_index: null,
  last_used_index: null,
  searching: [],
}

/** Reads the gap of an extended key, or how much of a pool is free. */
export async function readUse(installation: Installation, wallet: Wallet): Promise<WalletUse> {
  const material = await installation.wallets.findMaterial(wallet.materialId)
  if (material === null || wallet.kind === 'address') return NOTHING
  if (wallet.kind === 'pool') {
    const { total, free } = await countPool(installation, material)
    return { ...NOTHING, addresses: total, free }
  }
  const { lastPaidIndex, nextIndex, requiredGap, isComplete } = await walletGap(installation, material, GAP_LOOK_BACK)
  const gap = { required_gap: requiredGap, required_gap_is_complete: isComplete }
  const figures = { last_paid_index: lastPaidIndex, next_index: nextIndex, ...gap }
  return { ...NOTHING, ...figures, ...presentKey(keyStanding(material)) }
}

/** The figures in words, with a warning when the owner's wallet would not show all money. */
export function describeUse(use: WalletUse | undefined): string {
  if (use === undefined) return ''
  if (use.addresses !== null) return `${use.free} of ${use.addresses} addresses free`
  if (use.required_gap === null) return 'unique amounts'
  if (use.searching.length > 0)
    return `searching for earlier use on ${use.searching.join(', ')}; no address is used yet`
  const none = use.required_gap_is_complete === false ? `none of the newest ${GAP_LOOK_BACK} paid` : 'none paid'
  const paid = use.last_paid_index === null ? none : `last paid ${use.last_paid_index}`
  const warning =
    use.required_gap > USUAL_GAP_LIMIT
      ? ` (more than ${USUAL_GAP_LIMIT}: raise the gap limit in your wallet, or it does not show all payments)`
      : ''
  const least = use.required_gap_is_complete === false ? 'at least ' : ''
  return `next index ${use.next_index}, ${paid}, gap limit needed ${least}${use.required_gap}${warning}`
}

/** The state of a key, as the command line prints it. */
export function presentKey(
  key: KeyStanding | null,
): Pick<WalletUse, 'script_type' | 'start_index' | 'last_used_index' | 'searching'> {
  return {
    script_type: key?.scriptType ?? null,
    start_index: key?.startIndex ?? null,
    last_used_index: key?.lastUsedIndex ?? null,
    searching: key?.waitingFor ?? [],
  }
}

/** The same in words, for the person who added it. */
export function describeKey({ scriptType, ready, waitingFor, startIndex, lastUsedIndex }: KeyStanding): string {
  const type = scriptType === null ? '' : `Script type ${scriptType}. `
  if (!ready) {
    return `${type}Searching for earlier use on ${waitingFor.join(', ')}: no address is used until the search ends (see wallet show), or until you add the key again with --start-index.`
  }
  const found = lastUsedIndex === null ? '' : ` The highest used index is ${lastUsedIndex}.`
  return `${type}New invoices use addresses from index ${startIndex} on.${found}`
}

/** A wallet as the command line prints it. */
export function presentWallet(wallet: Wallet): Readonly<Record<string, string | readonly string[] | null>> {
  return {
    id: wallet.id,
    workspace_id: wallet.workspaceId,
    mode: wallet.mode,
    family: wallet.family,
    networks: wallet.networks,
    kind: wallet.kind,
    created_at: new Date(wallet.createdAt).toISOString(),
    disabled_at: wallet.disabledAt === null ? null : new Date(wallet.disabledAt).toISOString(),
  }
}
