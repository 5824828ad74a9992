import {
  endpointSecretContext,
  keyCanaryContext,
  keyMaterialContext,
  mailContext,
  totpContext,
} from '#shared/ports/secrets.ts'

/** Where a collection stores sealed values. */
export interface SealedField {
  /** Path in the document; a part `*` stands for every key or index, `*_x` for every key that ends in `_x`. */
  readonly path: string
  /** The sealing context, from the document's `_id`. */
  readonly contextOf: (id: string) => string
}

/** How long documents of a collection are kept, and what removes them. */
export type Life =
  /** Nothing expires by age. */
  | { readonly kept: 'forever' }
  /** The store's own index of this name removes them. */
  | { readonly kept: 'ttl'; readonly index: string }
  /** The retention job removes documents older than `days` by their indexed `field`, unless a scanner still has to read that time. */
  | {
      readonly kept: 'job'
      readonly field: string
      readonly days: number
      /** The days pass with the blocks that scanners read: a document stays as long as a scanner stands still. */
      readonly countedFrom?: 'scanners'
    }

/** Properties of a collection that matter to actions on the whole installation. */
export interface CollectionClass {
  /**
   * `kept`: part of a back-up. `dropped`: transient data that is meaningless after a restore.
   */
  readonly backup: 'kept' | 'dropped'
  readonly sealed: readonly SealedField[]
  readonly life: Life
}

const forever: Life = { kept: 'forever' }
const ttl = (index: string): Life => ({ kept: 'ttl', index })
const kept = (life: Life, sealed: readonly SealedField[] = []): CollectionClass => ({ backup: 'kept', sealed, life })
const dropped = (life: Life): CollectionClass => ({ backup: 'dropped', sealed: [], life })

/** The class of every collection, by name. A collection without one is refused by a test. */
export const COLLECTION_CLASSES: Readonly<Record<string, CollectionClass>> = {
  workspaces: kept(forever),
  // Shown on payers' pages and on receipts of long ago.
  workspace_logos: kept(forever),
  api_keys: kept(forever),
  key_material: kept(forever, [{ path: 'sealed', contextOf: keyMaterialContext }]),
  wallets: kept(forever),
  addresses: kept(forever),
  // An address in a pack is in no scanner's memory: without its pack, money on it would not be seen.
  watch_packs: kept(forever),
  ownership_proofs: kept(forever),
  // A challenge that was used since the back-up must not be valid a second time.
  ownership_challenges: dropped(ttl('challenge_expiry')),
  invoices: kept(forever),
  // Invoices that cannot be updated fail again.
  advance_failures: dropped(ttl('advance_failure_life')),
  // Rebuilt from the invoices.
  invoice_counts: dropped(ttl('invoice_count_life')),
  invoice_rollups: dropped(ttl('invoice_rollup_life')),
  delivery_rollups: dropped(ttl('delivery_rollup_life')),
  payments: kept(forever),
  // What wallets said about open invoices; only the scanner's findings count.
  payment_hints: dropped(ttl('hint_life')),
  payment_links: kept(forever),
  products: kept(forever),
  refunds: kept(forever),
  audit_log: kept(forever),
  installation: kept(forever, [{ path: 'sealed', contextOf: keyCanaryContext }]),
  chain_cursors: kept(forever),
  events: kept(ttl('event_life')),
  webhook_endpoints: kept(forever, [
    { path: 'sealedSecrets.*', contextOf: endpointSecretContext },
    { path: 'formerSecrets.*.sealed', contextOf: endpointSecretContext },
  ]),
  webhook_deliveries: kept(ttl('delivery_life')),
  webhook_attempts: kept(ttl('attempt_life')),
  delivery_recoveries: kept(ttl('recovery_life')),
  chain_commands: kept(ttl('command_life')),
  // Figures of what nodes cost.
  node_usage: kept(ttl('node_usage_life')),
  // The balance at the opening of an invoice is compared at its end: 30 days later at most, in the time of its network.
  coin_balances: kept({ kept: 'job', field: 'updatedAt', days: 32, countedFrom: 'scanners' }),
  // A payment that is found late is priced by the rates of its time.
  rate_snapshots: kept({ kept: 'job', field: 'at', days: 15 }),
  exceptions: kept(ttl('exception_life')),
  operations: kept(ttl('operation_life')),
  idempotency_keys: kept(ttl('idempotency_life'), [{ path: 'response.body', contextOf: (scope) => scope }]),
  mails: kept(ttl('mail_life'), [{ path: 'data.*_sealed', contextOf: mailContext }]),
  users: kept(forever, [
    { path: 'totp.sealedSecret', contextOf: totpContext },
    { path: 'pendingTotp.sealedSecret', contextOf: totpContext },
  ]),
  memberships: kept(forever),
  go_live_statements: kept(forever),
  invitations: kept(ttl('invitation_life')),
  // People log in again after a restore: a session that was ended since must not become valid again.
  sessions: dropped(ttl('session_life')),
  // A link that was used since the back-up must not work a second time.
  password_resets: dropped(ttl('reset_life')),
  login_attempts: dropped(ttl('login_attempt_life')),
  leases: dropped(forever),
  processes: dropped(ttl('process_life')),
}

/** The class of a collection; throws for one that has none. */
export function classOf(collection: string): CollectionClass {
  const found = COLLECTION_CLASSES[collection]
  if (found === undefined) throw new Error(`collection ${collection} has no class in collection-class.ts`)
  return found
}
