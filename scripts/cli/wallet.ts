import { readFile } from 'node:fs/promises'
import { type Command, Option } from 'commander'
import { PaymeshError } from '#shared/contracts/errors.ts'
import { FAMILIES, type Family, MODES, type Mode, NETWORK_IDS, type NetworkId } from '#shared/domain/enumerations.ts'
import { SCRIPT_TYPES, type ScriptType } from '#shared/domain/script-type.ts'
import { WALLET_KINDS, type WalletKind } from '#shared/ports/key-material.ts'
import { addAnnouncedWallet } from '#shared/usecases/wallets/change-wallets.ts'
import { disableWallet } from '#shared/usecases/wallets/disable-wallet.ts'
import { ownersOfWorkspace } from '#shared/usecases/workspaces/owners-of-workspace.ts'
import { actorName, manualAction } from './session/actor.ts'
import { withInstallation } from './session/installation.ts'
import { requireWorkspace } from './session/require-workspace.ts'
import { type OutputOptions, print, table } from './text/output.ts'
import { addWalletFundsCommand } from './wallet-funds.ts'
import { addWalletProofCommand, type ProofOptions, readProof, withProofOptions } from './wallet-proof.ts'
import { describeKey, describeUse, presentKey, presentWallet, readUse } from './wallet-use.ts'

interface AddOptions extends OutputOptions, ProofOptions {
  readonly workspace: string
  readonly mode: Mode
  readonly family: Family
  readonly kind: WalletKind
  readonly value?: string
  readonly file?: string
  readonly networks?: string
  readonly scriptType?: ScriptType
  readonly path?: string
  readonly startIndex?: number
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

function parseIndex(text: string): number {
  return /^\d+$/.test(text) ? Number(text) : Number.NaN
}

async function readValue({ value, file }: AddOptions): Promise<string> {
  if ((value === undefined) === (file === undefined)) {
    throw new PaymeshError('VALIDATION_ERROR', { details: [{ path: 'value', message: 'Set --value or --file.' }] })
  }
  return value ?? (await readFile(file ?? '', 'utf8'))
}

async function add(options: AddOptions): Promise<void> {
  const networks = options.networks === undefined ? undefined : parseNetworks(options.networks)
  const value = await readValue(options)
  const proof = await readProof(options)
  await withInstallation(async (installation) => {
    const { workspace, mode, family, kind, scriptType, path, startIndex } = options
    await requireWorkspace(installation, workspace, 'restricted')
    // No wake-up: the mailer's sweep finds it within a second. No delay: a person with access to the machine could change the stored date anyway.
    const deps = { ...installation, notifier: { notify: () => undefined }, walletDelayMs: 0 }
    const ownersOf = (id: string) => ownersOfWorkspace(installation, id)
    const added = await addAnnouncedWallet(
      { ...deps, ownersOf },
      {
        workspaceId: workspace,
        mode,
        family,
        kind,
        value,
        ...(networks !== undefined && { networks }),
        ...(scriptType !== undefined && { scriptType }),
        ...(path !== undefined && { path }),
        ...(startIndex !== undefined && { startIndex }),
        ...(proof !== undefined && { proof }),
        ...manualAction(installation),
      },
    )
    print(
      options,
      {
        ...presentWallet(added.wallet),
        ...presentKey(added.key),
        first_addresses: added.firstAddresses,
        listed: added.listed,
      },
      describeAdded(added),
    )
  })
}

function describeAdded({
  wallet,
  key,
  firstAddresses,
  listed,
}: Awaited<ReturnType<typeof addAnnouncedWallet>>): string {
  const shown = firstAddresses.map((address, index) => `  ${index}  ${address}`).join('\n')
  const counts =
    listed === null
      ? ''
      : ` (${listed.added} new, ${listed.known} already known, ${listed.repeated} repeated in the list)`
  const advice =
    wallet.kind === 'xpub'
      ? 'Compare its first addresses with your wallet. If they differ, do not use it:'
      : 'Make sure that you control the keys: an exchange address may change or reject small amounts:'
  const use = key === null ? '' : `\n${describeKey(key)}`
  return `wallet ${wallet.id} added (${wallet.networks.join(', ')})${counts}\n${advice}\n${shown}${use}`
}

async function list(options: OutputOptions & { readonly workspace?: string }): Promise<void> {
  await withInstallation(async (installation) => {
    const found = await installation.wallets.listWallets(options.workspace ?? null)
    const uses = await Promise.all(found.map((wallet) => readUse(installation, wallet)))
    const rows = found.map((wallet, index) => [
      wallet.id,
      wallet.mode,
      wallet.family,
      [wallet.kind, uses[index]?.script_type ?? []].flat().join(' '),
      wallet.networks.join(','),
      wallet.disabledAt === null ? 'enabled' : 'disabled',
      describeUse(uses[index]),
    ])
    const head = ['ID', 'MODE', 'FAMILY', 'KIND', 'NETWORKS', 'STATUS', 'USE']
    const values = found.map((wallet, index) => ({ ...presentWallet(wallet), ...uses[index] }))
    print(options, values, table(head, rows, 'no wallets'))
  })
}

async function show(id: string, options: OutputOptions): Promise<void> {
  await withInstallation(async (installation) => {
    const wallet = await installation.wallets.findWallet(id)
    if (wallet === null) throw new PaymeshError('NOT_FOUND', { message: 'Wallet not found.' })
    const use = await readUse(installation, wallet)
    const value = { ...presentWallet(wallet), ...use }
    const lines = Object.entries(value).map(([name, item]) => `${name.padEnd(18)} ${item ?? '-'}`)
    print(options, value, [...lines, describeUse(use)].join('\n'))
  })
}

async function disable(id: string, options: OutputOptions & { readonly dryRun?: boolean }): Promise<void> {
  await withInstallation(async (installation) => {
    const dryRun = options.dryRun ?? false
    const ownersOf = (workspaceId: string) => ownersOfWorkspace(installation, workspaceId)
    const deps = { ...installation, ownersOf }
    const { wallet, changed } = await disableWallet(deps, { walletId: id, dryRun, actor: actorName() })
    const text = !changed
      ? `wallet ${id} is already disabled; no changes were made`
      : dryRun
        ? `wallet ${id} would be disabled; no changes were made`
        : `wallet ${id} is disabled: new invoices do not use it, and its addresses are still monitored`
    print(options, { ...presentWallet(wallet), changed: changed && !dryRun, dry_run: dryRun }, text)
  })
}

/** `wallet add | prove | funds | list | show | disable`. */
export function addWalletCommands(program: Command): void {
  const wallet = program.command('wallet').description('Add, watch and disable receiving wallets (public keys only).')
  const adding = wallet
    .command('add')
    .description('Add a wallet: an extended public key, an address pool (run again to top it up), or a single address.')
    .requiredOption('--workspace <id>', 'workspace that receives')
    .addOption(new Option('--mode <mode>', 'live or test').choices(MODES).makeOptionMandatory())
    .addOption(new Option('--family <family>', 'address family').choices(FAMILIES).makeOptionMandatory())
    .addOption(new Option('--kind <kind>', 'kind of wallet').choices(WALLET_KINDS).makeOptionMandatory())
    .option('--value <value>', 'the extended public key (account level), the list of addresses, or the address')
    .option('--file <path>', 'file that contains the value: CSV, or one address per line')
    .option('--networks <list>', 'comma-separated; default: every network of the family')
    .addOption(
      new Option(
        '--script-type <type>',
        'address type of your wallet; required for xpub, Ltub, tpub and ttub of Bitcoin and Litecoin',
      ).choices(SCRIPT_TYPES),
    )
    .option('--path <path>', "derivation path, required for Electrum keys: m (standard) or m/0' (SegWit)")
    .option(
      '--start-index <n>',
      'index of the first address to use, instead of a search for earlier use of the key',
      parseIndex,
    )
  withProofOptions(adding).option('--json', 'print one JSON value').action(add)
  addWalletProofCommand(wallet)
  addWalletFundsCommand(wallet)
  wallet
    .command('list')
    .description('List wallets with their used and free addresses.')
    .option('--workspace <id>', 'only wallets of this workspace')
    .option('--json', 'print one JSON value')
    .action(list)
  wallet
    .command('show <id>')
    .description('Show a wallet, its required gap limit, or the free addresses of its pool.')
    .option('--json', 'print one JSON value')
    .action(show)
  wallet
    .command('disable <id>')
    .description('Disable a wallet for new invoices. Its addresses are still monitored. Add it again to enable it.')
    .option('--dry-run', 'show what would change; change nothing')
    .option('--json', 'print one JSON value')
    .action(disable)
}
