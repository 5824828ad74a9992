import type mongoose from 'mongoose'
import { COUNT, DATE, defineCollection, OWNED_FIELDS, optional, TEXT } from '#shared/db/connection/collection-model.ts'
import type { Family, Mode, NetworkId } from '#shared/domain/enumerations.ts'
import type { WatchedAddress } from '#shared/ports/addresses.ts'
import type { KeyMaterial } from '#shared/ports/key-material.ts'
import type { Wallet } from '#shared/ports/wallets.ts'

/** A stored extended public key with its counters; the key itself is sealed. */
export type KeyMaterialDocument = Omit<KeyMaterial, 'id' | 'createdAt' | 'returned'> & {
  _id: string
  returned: number[]
  createdAt: Date
}

/** One record per installation, mode and fingerprint; `_id` spells all three. */
export const KEY_MATERIAL = defineCollection<KeyMaterialDocument>(
  'key_material',
  {
    _id: TEXT,
    mode: TEXT,
    family: TEXT,
    kind: TEXT,
    fingerprint: TEXT,
    sealed: TEXT,
    sandbox: Boolean,
    nextIndex: COUNT,
    derivedCount: COUNT,
    returned: [Number],
    reclaimFrom: optional(Number),
    scriptType: optional(String),
    history: optional(Object),
    createdAt: DATE,
  },
  [],
)

/** A stored wallet. */
export type WalletDocument = Omit<Wallet, 'id' | 'createdAt' | 'disabledAt' | 'effectiveAt' | 'displacedAt'> & {
  _id: string
  createdAt: Date
  disabledAt: Date | null
  effectiveAt?: Date
  displacedAt?: Date
}

/** The wallets collection; a workspace has one wallet per key material and mode. */
export const WALLETS = defineCollection<WalletDocument>(
  'wallets',
  {
    _id: TEXT,
    ...OWNED_FIELDS,
    family: TEXT,
    networks: [String],
    kind: TEXT,
    materialId: TEXT,
    createdAt: DATE,
    disabledAt: optional(Date),
    effectiveAt: optional(Date),
    displacedAt: optional(Date),
  },
  [
    { name: 'wallet_material', key: { workspaceId: 1, mode: 1, materialId: 1 }, unique: true },
    { name: 'wallet_users', key: { materialId: 1, workspaceId: 1 } },
  ],
)

/** A stored receiving address. */
export type AddressDocument = Omit<WatchedAddress, 'watchedOn' | 'heldBy'> & {
  /** `<mode>:<family>:<matchKey>` */
  _id: string
  mode: Mode
  watchedOn: NetworkId[]
  /**
   * `watchedOn` sorted and joined: it has so few values that the index can skip from one to the next, which makes
   * "rows that lack a network" a cheap query at any number of addresses, also for networks that are new.
   */
  watchedKey: string
  heldBy?: string[]
  /** Its hash is in a stored pack, so scanners need not hold it in memory. */
  packed?: true
}

/** The addresses collection: every watch of the installation. */
export const ADDRESSES = defineCollection<AddressDocument>(
  'addresses',
  {
    _id: TEXT,
    mode: TEXT,
    family: TEXT,
    matchKey: TEXT,
    address: TEXT,
    materialId: TEXT,
    index: COUNT,
    watchedOn: [String],
    watchedKey: String,
    heldBy: optional([String]),
    offeredFrom: optional(Object),
    packed: optional(Boolean),
  },
  [
    { name: 'address_match_key', key: { mode: 1, family: 1, matchKey: 1 }, unique: true },
    { name: 'address_index', key: { materialId: 1, index: 1 }, unique: true },
    { name: 'address_watched', key: { mode: 1, family: 1, watchedKey: 1 } },
    // Only what scanners hold in memory: its size follows recent invoices.
    {
      name: 'address_hot',
      key: { mode: 1, family: 1, packed: 1, matchKey: 1 },
      partialFilterExpression: { packed: null },
    },
    {
      name: 'address_held',
      key: { heldBy: 1, matchKey: 1 },
      partialFilterExpression: { heldBy: { $exists: true } },
    },
  ],
)

/** A stored pack; `_id` spells mode, family and position. */
export interface WatchPackDocument {
  _id: string
  mode: Mode
  family: Family
  seq: number
  count: number
  salt: mongoose.mongo.Binary
  hashes: mongoose.mongo.Binary
}

/** The packs of cold addresses, 512 KiB each. */
export const WATCH_PACKS = defineCollection<WatchPackDocument>(
  'watch_packs',
  { _id: TEXT, mode: TEXT, family: TEXT, seq: COUNT, count: COUNT, salt: Buffer, hashes: Buffer },
  [{ name: 'watch_pack_seq', key: { mode: 1, family: 1, seq: 1 }, unique: true }],
)
