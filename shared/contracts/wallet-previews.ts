import { z } from 'zod'
import { ASSET_IDS, FIAT_CODES, NETWORK_IDS } from '#shared/domain/enumerations.ts'
import { SCRIPT_TYPES } from '#shared/domain/script-type.ts'

const network = z.enum(NETWORK_IDS)
/** Null where addresses are no output scripts, and until a person has chosen. */
const scriptType = z.enum(SCRIPT_TYPES).nullable()

/** State of an extended key, as shown to people. */
export const keyStandingWire = z.object({
  scriptType,
  /** False while earlier use is searched: until then no address is offered. */
  ready: z.boolean(),
  /** Networks on which earlier use is searched; nothing is offered until it is empty. */
  waitingFor: z.array(network),
  /** First index ever offered, as far as is known. */
  startIndex: z.number(),
  /** Highest index that was used before; null when none was found. */
  lastUsedIndex: z.number().nullable(),
  /** Start index that an operator entered; null without one. */
  givenIndex: z.number().nullable(),
})

/** State of an extended key. */
export type KeyStanding = z.infer<typeof keyStandingWire>

const keyPreview = z.object({
  scriptType,
  /** Possible script types and the first address of each; empty when there is no choice. */
  choices: z.array(z.object({ scriptType: z.enum(SCRIPT_TYPES), path: z.string(), address: z.string() })),
  /** How earlier use of the key is found. */
  search: z.object({
    networks: z.array(network),
    /** Networks of the family that no node can search. */
    unsearched: z.array(network),
    /** The searched data and the invisible data, as sentences. */
    words: z.string(),
  }),
  /** Nothing can be searched: a new key is refused without a start index. */
  needsStartIndex: z.boolean(),
})

/** Preview of an extended key. */
export type KeyPreview = z.infer<typeof keyPreview>

/** Preview of a wallet, for comparison with the owner's own. */
export const walletPreview = z.object({
  networks: z.array(network),
  /** At most five, in the order of the owner's wallet; empty until a script type is chosen. The path is null for listed addresses. */
  addresses: z.array(z.object({ index: z.number(), path: z.string().nullable(), address: z.string() })),
  /** Null for listed addresses. */
  key: keyPreview.nullable(),
  /** How many addresses were listed, and how many entries repeated one; null for extended keys. */
  listed: z.object({ count: z.number(), repeated: z.number() }).nullable(),
  /** State of the workspace's wallet on this key, pool or address. */
  standing: z.enum(['none', 'enabled', 'disabled']),
  /** Sentences that a person should read before continuing. */
  warnings: z.array(z.string()),
})

/** Preview of a wallet. */
export type WalletPreview = z.infer<typeof walletPreview>

/** How far a wallet must search to show all money. */
export const walletGapWire = z.object({
  /** Highest index that received money; null when none did. */
  lastPaidIndex: z.number().nullable(),
  /** Next index that has never been offered. */
  nextIndex: z.number(),
  /** The gap limit to set: the longest distance from one paid index to the next, or from the last one to the newest offer. */
  requiredGap: z.number(),
  /** False when only the newest addresses were read: the figures are then at least these, and no paid address was found among them if null. */
  isComplete: z.boolean(),
})

/** How far a wallet must search to show all money. */
export type WalletGap = z.infer<typeof walletGapWire>

/** Advice before a wallet is added. */
export const walletAdvice = z.object({
  costs: z.array(
    z.object({
      network,
      asset: z.enum(ASSET_IDS),
      symbol: z.string(),
      fee: z.string().nullable(),
      feeSymbol: z.string(),
      feeFiat: z.string().nullable(),
      /** Moving costs at least as much as a usual invoice brings. */
      exceedsUsual: z.boolean(),
    }),
  ),
  currency: z.enum(FIAT_CODES),
  /** Middle amount of the newest invoices; null with fewer than five in this currency. */
  usual: z.string().nullable(),
  /** A single address or a pool is better: every payment on an address of its own would cost more to move than it is worth. */
  recommendFewer: z.boolean(),
})

/** Advice before a wallet is added. */
export type WalletAdvice = z.infer<typeof walletAdvice>
