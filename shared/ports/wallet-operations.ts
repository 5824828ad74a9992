import type { Ms } from '#shared/domain/invoice/model.ts'
import type { ListedAddress } from './addresses.ts'
import type { AuditWrite } from './audit.ts'
import type { ProofWrite } from './ownership.ts'
import type { Wallet } from './wallets.ts'

/** Addresses that an action adds to a material, in the same transaction as its audit row. */
export interface Listing {
  readonly materialId: string
  readonly rows: readonly ListedAddress[]
  readonly offeredFrom: Ms | null
}

/**
 * Operator changes of wallets, each stored together with the proof that it needs, the addresses it adds and its audit rows:
 * all or nothing. Throws `INVALID_STATE` when one of the addresses is put to another use concurrently, and the errors of
 * storing a proof.
 */
export interface WalletOperations {
  /** False when this action was recorded before, or the workspace has a wallet on this material; then nothing is stored. */
  insert(
    wallet: Wallet,
    auditWrite: AuditWrite,
    listings: readonly Listing[],
    proof?: ProofWrite | null,
  ): Promise<boolean>
  /** Changes a wallet that has been disabled since `from` (null = enabled); false when it has not, or the action was recorded before. */
  change(
    id: string,
    from: Ms | null,
    to: { readonly disabledAt: Ms | null; readonly effectiveAt: Ms | null },
    auditWrite: AuditWrite,
    listings: readonly Listing[],
    proof?: ProofWrite | null,
  ): Promise<boolean>
  /** Records a change that leaves the wallet itself unchanged: more addresses in its pool. */
  note(auditWrite: AuditWrite, listings: readonly Listing[], proof?: ProofWrite | null): Promise<boolean>
  /** Whether an action with this audit row has run. */
  isRecorded(auditId: string): Promise<boolean>
}
