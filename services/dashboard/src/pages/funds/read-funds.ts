import type { NetworkId } from '#shared/domain/enumerations.ts'
import type { FundsLine } from '#shared/domain/funds/funds-line.ts'

/** Pages of 20 addresses that are read of one network; the command line reads more. */
export const PAGES_MAX = 25

/** Why the balances of a page are unknown. */
export type FundsFault = 'no_node' | 'not_supported' | 'no_response' | 'behind'

/** One page of one network, as the server sends it. */
export interface FundsPart {
  readonly lines: readonly FundsLine[]
  readonly addresses: number
  /** Where the next page starts; null after the last address. */
  readonly next: string | null
  readonly fault: FundsFault | null
}

/** A reading of all networks of a wallet, as far as it got. */
export interface FundsProgress {
  readonly lines: readonly FundsLine[]
  readonly addresses: number
  /** The network that is being read; null when the reading has ended. */
  readonly reading: { readonly network: NetworkId; readonly addresses: number } | null
  readonly faults: readonly (readonly [network: NetworkId, fault: FundsFault])[]
  /** Networks with more addresses than were read. */
  readonly cut: readonly (readonly [network: NetworkId, addresses: number])[]
  /** Every address of every network was read. Until then a sum is a lower bound, and an absent address may hold something. */
  readonly isWhole: boolean
  readonly error: unknown
}

const START: FundsProgress = {
  lines: [],
  addresses: 0,
  reading: null,
  faults: [],
  cut: [],
  isWhole: false,
  error: null,
}

/** Parts of a reading that the page provides. */
export interface FundsReader {
  readonly networks: readonly NetworkId[]
  /** Rejects when a page could not be read. */
  page(network: NetworkId, after: string | null): Promise<FundsPart>
  isStopped(): boolean
  show(progress: FundsProgress): void
}

/**
 * Reads the pages of one network after the other, at most `PAGES_MAX` of each, and shows each step. What was read stays when a later
 * page fails or the person stops. Never rejects: a failure is the `error` of the last progress.
 */
export async function readFunds({ networks, page, isStopped, show: display }: FundsReader): Promise<void> {
  let state = START
  let networksRead = 0
  const show = (change: Partial<FundsProgress>) => {
    state = { ...state, ...change }
    display(state)
  }
  try {
    for (const network of networks) {
      let [after, addresses]: [string | null, number] = [null, 0]
      for (let count = 0; count < PAGES_MAX && !isStopped(); count += 1) {
        show({ reading: { network, addresses } })
        const { fault, ...found } = await page(network, after)
        addresses += found.addresses
        after = found.next
        const isNew = fault !== null && !state.faults.some(([on, known]) => on === network && known === fault)
        show({
          lines: [...state.lines, ...found.lines],
          addresses: state.addresses + found.addresses,
          ...(isNew && { faults: [...state.faults, [network, fault] as const] }),
        })
        if (after !== null) continue
        networksRead += 1
        break
      }
      if (after !== null) show({ cut: [...state.cut, [network, addresses]] })
      if (isStopped()) break
    }
    show({ reading: null, isWhole: networksRead === networks.length })
  } catch (error) {
    show({ reading: null, error })
  }
}
