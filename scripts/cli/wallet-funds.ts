import { writeFile } from 'node:fs/promises'
import { type Command, Option } from 'commander'
import { PaymeshError } from '#shared/contracts/errors.ts'
import { fundsCsv } from '#shared/contracts/funds-csv.ts'
import type { Wallet } from '#shared/db/wallets/wallet-models.ts'
import { NETWORK_IDS, type NetworkId } from '#shared/domain/enumerations.ts'
import { type FundsLine, fundsTotals, mayHold } from '#shared/domain/funds/funds-line.ts'
import { FUNDS_PAGE } from '#shared/ports/funds.ts'
import { type OperatorCaller, withOperatorCaller } from './session/operator-caller.ts'
import { fundsText, isComplete, type NetworkFunds } from './text/funds-text.ts'
import { type OutputOptions, print } from './text/output.ts'
import { wholeNumber } from './text/whole-number.ts'

/** Addresses of one network that are read unless another number is given. */
const ADDRESSES_MAX = 1_000

interface FundsOptions extends OutputOptions {
  readonly network?: NetworkId
  readonly csv?: string
  readonly addressesMax: number
}

type Page = Awaited<ReturnType<OperatorCaller['procedures']['funds']['page']>>

const FAULTS: Readonly<Record<NonNullable<Page['fault']>, string>> = {
  no_node: 'no node is configured in this mode',
  not_supported: 'balances cannot be read from this node',
  no_response: 'no node gave a clear response',
  behind: 'the node is behind the blocks that were already scanned',
}

async function funds(id: string, options: FundsOptions): Promise<void> {
  await withOperatorCaller(async (caller) => {
    const wallet = await caller.installation.wallets.findWallet(id)
    if (wallet === null) throw new PaymeshError('NOT_FOUND', { message: 'Wallet not found.' })
    const networks = options.network === undefined ? wallet.networks : [options.network]
    const found: NetworkFunds[] = []
    for (const network of networks) {
      found.push(await readNetwork(caller, wallet, network, options.addressesMax))
    }
    const lines = found.flatMap((one) => one.lines)
    if (options.csv !== undefined) await writeFile(options.csv, fundsCsv(lines), { mode: 0o600, flag: 'wx' })
    const value = {
      walletId: wallet.id,
      mode: wallet.mode,
      networks: found.map(({ lines: _lines, ...one }) => one),
      isComplete: isComplete(found),
      totals: fundsTotals(lines),
      lines: lines.filter(mayHold),
    }
    print(options, value, fundsText(found, options.csv))
    if (!isComplete(found)) process.exitCode = 1
  })
}

async function readNetwork(
  { procedures }: OperatorCaller,
  wallet: Wallet,
  network: NetworkId,
  addressesMax: number,
): Promise<NetworkFunds> {
  const { workspaceId, mode, id: walletId } = wallet
  const lines: FundsLine[] = []
  const faults = new Set<string>()
  let page: Page
  let [after, addresses]: [string | null, number] = [null, 0]
  do {
    page = await procedures.funds.page({ workspaceId, mode, walletId, network, after })
    lines.push(...page.lines)
    addresses += page.addresses
    after = page.next
    if (page.fault !== null) faults.add(FAULTS[page.fault])
    process.stderr.write(`${network}: ${addresses} addresses read\n`)
  } while (after !== null && addresses + FUNDS_PAGE <= addressesMax)
  return {
    network,
    lines,
    addresses,
    height: page.height,
    faults: [...faults],
    isCut: after !== null,
    fees: page.fees,
  }
}

const parseCount = wholeNumber(/^\d{1,6}$/, `a whole number from ${FUNDS_PAGE}`, { min: FUNDS_PAGE })

/** `wallet funds`: balances by address and what moving them costs now; status 1 when a balance is unknown or an address was not read. */
export function addWalletFundsCommand(wallet: Command): void {
  wallet
    .command('funds <id>')
    .description(
      'Show where the money of a wallet lies: address, path, balance, and what moving it would cost now. Signs and sends nothing.',
    )
    .addOption(new Option('--network <network>', 'only this network').choices(NETWORK_IDS))
    .option('--csv <file>', 'also write a CSV file, which must not exist yet')
    .option('--addresses-max <n>', 'most used addresses to read for each network', parseCount, ADDRESSES_MAX)
    .option('--json', 'print one JSON value')
    .action(funds)
}
