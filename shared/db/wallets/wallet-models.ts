import { z } from 'zod'
import { defineCollection, type RecordOf, type StoredOf } from '#shared/db/connection/collection-model.ts'
import { BYTES, OWNED_FIELDS, TIME, textAs } from '#shared/db/connection/stored-fields.ts'
import { type Family, MODES, type NetworkId } from '#shared/domain/enumerations.ts'
import type { ScriptType } from '#shared/domain/script-type.ts'

/**
 * Known use of an extended key before it was added. While it is searched, none of its addresses is offered;
 * indexes below `startIndex` never are.
 */
const KEY_HISTORY = z.object({
  state: z.enum(['searching', 'known']),
  /** Networks whose search has not ended; empty once the state is `known`. */
  waitingFor: z.array(textAs<NetworkId>()),
  /** Networks that showed no use of the indexes from `startIndex` on. */
  searched: z.array(textAs<NetworkId>()),
  /** Highest index that a network showed as used; null when none did. */
  lastUsedIndex: z.number().nullable(),
  startIndex: z.number(),
  /** Start index that an operator entered instead of a search; null without one. */
  givenIndex: z.number().nullable(),
})

/** One record per installation, mode and fingerprint; `_id` spells all three. */
export const KEY_MATERIAL = defineCollection(
  'key_material',
  {
    /** `<mode>:<family>:<fingerprint>`, `<mode>:<family>:pool:<workspace>` or `<mode>:<family>:address:<matchKey>`. */
    _id: z.string(),
    mode: z.enum(MODES),
    family: textAs<Family>(),
    /** Source of its addresses: derived from a key, a list of addresses, or one address with unique amounts. */
    kind: z.enum(['xpub', 'pool', 'address']),
    /** SHA-256 of the key's text with its script type (of the rest of the id when there is no key), hex, first 32 characters. */
    fingerprint: z.string(),
    /** AES-256-GCM envelope of the key's text from `AddressBook`; empty for the other kinds. */
    sealed: z.string(),
    /** True for the built-in sandbox wallet of test mode. */
    sandbox: z.boolean(),
    /** Next index that has never been offered. */
    nextIndex: z.number(),
    /** Addresses 0 … derivedCount−1 exist in `addresses`. */
    derivedCount: z.number(),
    /** Indexes offered more than an hour ago that no invoice claimed; offered first. */
    returned: z.array(z.number()),
    /** Indexes below it are never offered again, with or without an invoice; absent = 0. Set when an installation was restored. */
    reclaimFrom: z.number().exactOptional(),
    /** The output script type of its addresses, shown to people; null where addresses are not scripts. `sealed` decides. */
    scriptType: textAs<ScriptType>().nullable(),
    /** Absent for keys that are not searched. */
    history: KEY_HISTORY.exactOptional(),
    createdAt: TIME,
  },
  [],
)

/** A stored extended public key with its counters; the key itself is sealed. */
export type KeyMaterialDocument = StoredOf<typeof KEY_MATERIAL>

/** One record per installation and mode of an extended public key, of a workspace's pool, or of a single address. */
export type KeyMaterial = RecordOf<typeof KEY_MATERIAL>

/** The wallets collection; a workspace has one wallet per key material and mode. */
export const WALLETS = defineCollection(
  'wallets',
  {
    _id: z.string(),
    ...OWNED_FIELDS,
    family: textAs<Family>(),
    networks: z.array(textAs<NetworkId>()),
    kind: z.enum(['xpub', 'pool', 'address']),
    materialId: z.string(),
    createdAt: TIME,
    disabledAt: TIME.nullable(),
    /** From when on quotes use it; absent = since it was created. Its addresses are derived and watched before. */
    effectiveAt: TIME.exactOptional(),
    /** When another workspace proved control of its key or address: it was disabled then, and needs a proof to be enabled. */
    displacedAt: TIME.exactOptional(),
  },
  [
    { name: 'wallet_material', key: { workspaceId: 1, mode: 1, materialId: 1 }, unique: true },
    { name: 'wallet_users', key: { materialId: 1, workspaceId: 1 } },
  ],
)

/** A workspace's right to receive on networks of a family with some key material. */
export type Wallet = RecordOf<typeof WALLETS>

/** The addresses collection: every watch of the installation. */
export const ADDRESSES = defineCollection(
  'addresses',
  {
    /** `<mode>:<family>:<matchKey>` */
    _id: z.string(),
    mode: z.enum(MODES),
    family: textAs<Family>(),
    /** Lower-case hex of the receiving script or address bytes. */
    matchKey: z.string(),
    address: z.string(),
    materialId: z.string(),
    index: z.number(),
    /** Networks whose scanner has indexed this address. */
    watchedOn: z.array(textAs<NetworkId>()),
    /**
     * `watchedOn` sorted and joined: it has so few values that the index can skip from one to the next, which makes
     * "rows that lack a network" a cheap query at any number of addresses, also for networks that are new.
     */
    watchedKey: z.string(),
    /** Materials of the pools, or of the single-address wallet, that hold this address; absent for derived ones. */
    heldBy: z.array(z.string()).exactOptional(),
    /** Earliest time at which a pool may offer it, by material; absent = since it was added. */
    offeredFrom: z.record(z.string(), z.number()).exactOptional(),
    /** Since when its hash is in a stored pack, so that scanners need not hold it in memory. */
    packed: TIME.exactOptional(),
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
  { hidden: ['_id', 'watchedKey', 'packed'] },
)

/** A stored receiving address. */
export type AddressDocument = StoredOf<typeof ADDRESSES>

/** A watched receiving address. It is stored before it is issued. */
export type WatchedAddress = RecordOf<typeof ADDRESSES>

/** The packs of cold addresses, 512 KiB each. */
export const WATCH_PACKS = defineCollection(
  'watch_packs',
  {
    _id: z.string(),
    mode: z.enum(MODES),
    family: textAs<Family>(),
    seq: z.number(),
    count: z.number(),
    salt: BYTES,
    hashes: BYTES,
  },
  [{ name: 'watch_pack_seq', key: { mode: 1, family: 1, seq: 1 }, unique: true }],
)

/** A stored pack; `_id` spells mode, family and position. */
export type WatchPackDocument = StoredOf<typeof WATCH_PACKS>
