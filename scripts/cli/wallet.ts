import { type Command, Option } from 'commander'
import { PaymeshError } from '#shared/contracts/errors.ts'
import { FAMILIES, type Family, MODES, type Mode, NETWORK_IDS, type NetworkId } from '#shared/domain/enumerations.ts'
import { addWallet } from '#shared/usecases/add-wallet.ts'
import type { Wallet } from '#shared/usecases/ports/wallets.ts'
import { withInstallation } from './installation.ts'
import { type OutputOptions, print, table } from './output.ts'

interface AddOptions extends OutputOptions {
  readonly workspace: string
  readonly mode: Mode
  readonly family: Family
  readonly kind: 'xpub' | 'pool' | 'address'
  readonly value: string
  readonly networks?: string
}

function parseNetworks(text: string): readonly NetworkId[] {
  return text.split(',').map((name) => {
    const network = NETWORK_IDS.find((known) => known === name.trim())
    if (network) return network
    throw new PaymeshError('VALIDATION_ERROR', {
      details: [{ path: 'networks', message: `unknown network "${name}"; known: ${NETWORK_IDS.join(', ')}` }],
    })
  })
}

function present(wallet: Wallet): object {
  return {
    id: wallet.id,
    workspace_id: wallet.workspaceId,
    mode: wallet.mode,
    family: wallet.family,
    networks: wallet.networks,
    kind: wallet.kind,
    created_at: new Date(wallet.createdAt).toISOString(),
  }
}

async function add(options: AddOptions): Promise<void> {
  const networks = options.networks === undefined ? undefined : parseNetworks(options.networks)
  await withInstallation(async (installation) => {
    const { wallet, firstAddresses } = await addWallet(installation, {
      workspaceId: options.workspace,
      mode: options.mode,
      family: options.family,
      kind: options.kind,
      value: options.value,
      ...(networks ? { networks } : {}),
    })
    const shown = firstAddresses.map((address, index) => `  ${index}  ${address}`).join('\n')
    print(
      options,
      { ...present(wallet), first_addresses: firstAddresses },
      `wallet ${wallet.id} added (${wallet.networks.join(', ')})\nCompare its first addresses with your wallet:\n${shown}`,
    )
  })
}

/** `wallet add | list`. */
export function addWalletCommands(program: Command): void {
  const wallet = program.command('wallet').description('Add and list receiving wallets (public keys only).')
  wallet
    .command('add')
    .description('Add a wallet by its extended public key. Private keys are refused.')
    .requiredOption('--workspace <id>', 'workspace that receives')
    .addOption(new Option('--mode <mode>', 'live or test').choices(MODES).makeOptionMandatory())
    .addOption(new Option('--family <family>', 'address family').choices(FAMILIES).makeOptionMandatory())
    .addOption(new Option('--kind <kind>', 'kind of key').choices(['xpub', 'pool', 'address']).makeOptionMandatory())
    .requiredOption('--value <value>', 'the extended public key (account level), pool or address')
    .option('--networks <list>', 'comma-separated; default: every network of the family')
    .option('--json', 'print one JSON value')
    .action(add)
  wallet
    .command('list')
    .description('List wallets.')
    .option('--workspace <id>', 'only wallets of this workspace')
    .option('--json', 'print one JSON value')
    .action(async (options: OutputOptions & { workspace?: string }) => {
      await withInstallation(async (installation) => {
        const found = await installation.wallets.listWallets(options.workspace ?? null)
        const rows = found.map((item) => [item.id, item.mode, item.family, item.kind, item.networks.join(',')])
        print(options, found.map(present), table(['ID', 'MODE', 'FAMILY', 'KIND', 'NETWORKS'], rows, 'no wallets'))
      })
    })
}
