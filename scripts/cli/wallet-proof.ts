import { readFile } from 'node:fs/promises'
import { type Command, Option } from 'commander'
import { PaymeshError } from '#shared/contracts/errors.ts'
import { readSignatureList } from '#shared/contracts/signature-list.ts'
import { FAMILIES, type Family, type Mode } from '#shared/domain/enumerations.ts'
import { SCRIPT_TYPES, type ScriptType } from '#shared/domain/script-type.ts'
import { WALLET_KINDS, type WalletKind } from '#shared/ports/key-material.ts'
import type { GivenProof } from '#shared/usecases/wallets/check-proof.ts'
import { type IssueChallengeInput, issueChallenge } from '#shared/usecases/wallets/issue-challenge.ts'
import { proveWallet } from '#shared/usecases/wallets/prove-wallet.ts'
import { ownersOfWorkspace } from '#shared/usecases/workspaces/owners-of-workspace.ts'
import { manualAction } from './session/actor.ts'
import { type Installation, withInstallation } from './session/installation.ts'
import { requireWorkspace } from './session/require-workspace.ts'
import { type OutputOptions, print } from './text/output.ts'

/** A signed challenge as options of a command. */
export interface ProofOptions {
  readonly nonce?: string
  readonly signature?: string
  readonly signatures?: string
}

interface ProveOptions extends OutputOptions, ProofOptions {
  readonly workspace: string
  readonly wallet?: string
  readonly family?: Family
  readonly kind?: WalletKind
  readonly value?: string
  readonly file?: string
  readonly scriptType?: ScriptType
  readonly path?: string
}

const MODE: Mode = 'live'

/** The proof in the options; undefined without one. Throws `VALIDATION_ERROR` for an incomplete one. */
export async function readProof({ nonce, signature, signatures }: ProofOptions): Promise<GivenProof | undefined> {
  if (nonce === undefined && signature === undefined && signatures === undefined) return undefined
  if (nonce === undefined || (signature === undefined) === (signatures === undefined)) {
    throw invalid('nonce', 'Set --nonce and either --signature or --signatures.')
  }
  if (signature !== undefined) return { nonce, signatures: [{ address: '', signature }] }
  const list = readSignatureList(await readFile(signatures ?? '', 'utf8'))
  if (list === null) throw invalid('signatures', 'The file needs one line "address,signature" per address.')
  return { nonce, signatures: list }
}

/** The options for a proof. */
export function withProofOptions(command: Command): Command {
  return command
    .option('--nonce <hex>', 'nonce of the challenge that was signed')
    .option('--signature <text>', 'signature of the text, for one address or the first address of a key')
    .option('--signatures <path>', 'a file with a line "address,signature" for each address of a pool')
}

async function prove(options: ProveOptions): Promise<void> {
  const proof = await readProof(options)
  await withInstallation(async (installation) => {
    await requireWorkspace(installation, options.workspace, 'restricted')
    if (proof === undefined) return await challenge(installation, options)
    const { workspace: workspaceId, wallet: walletId } = options
    if (walletId === undefined) throw invalid('wallet', 'Use `wallet add` to prove control of a new wallet.')
    const ownersOf = (id: string) => ownersOfWorkspace(installation, id)
    const deps = { ...installation, notifier: { notify: () => undefined }, walletDelayMs: 0, ownersOf }
    const request = { workspaceId, mode: MODE, walletId, proof, ...manualAction(installation) }
    const { proved, changed } = await proveWallet(deps, request)
    const words = proved === 1 ? 'one address or key is' : `${proved} addresses are`
    print(options, { wallet: walletId, proved, changed }, `wallet ${walletId}: ${words} proved`)
  })
}

async function challenge(installation: Installation, options: ProveOptions): Promise<void> {
  const { workspace: workspaceId } = options
  const about = await subjectOf(options)
  const request = { workspaceId, mode: MODE, about, ...manualAction(installation) }
  const { nonce, text, expiresAt, signers } = await issueChallenge(installation, request)
  const shown = signers.first.slice(0, signers.count)
  const more = signers.count > shown.length ? [`  and ${signers.count - shown.length} more`] : []
  const next = options.wallet === undefined ? 'wallet add … --mode live' : 'wallet prove --workspace … --wallet …'
  const flag = signers.count === 1 ? '--signature …' : '--signatures file.csv'
  const lines = [
    'Sign exactly this line, with the key of each address below:',
    ...['', text, '', ...shown.map((address) => `  ${address}`), ...more, ''],
    `Then, within 24 hours: paymesh ${next} --nonce ${nonce} ${flag}`,
  ]
  const value = { nonce, text, expires_at: new Date(expiresAt).toISOString(), signers: signers.count, first: shown }
  print(options, value, lines.join('\n'))
}

async function subjectOf(options: ProveOptions): Promise<IssueChallengeInput['about']> {
  const { workspace: workspaceId, wallet, family, kind, value, file, scriptType, path } = options
  if (wallet !== undefined) return { walletId: wallet }
  if (family === undefined || kind === undefined || (value === undefined) === (file === undefined)) {
    throw invalid('wallet', 'Set --wallet, or set --family, --kind and either --value or --file of the new wallet.')
  }
  const text = value ?? (await readFile(file ?? '', 'utf8'))
  const key = { ...(scriptType !== undefined && { scriptType }), ...(path !== undefined && { path }) }
  return { entered: { workspaceId, mode: MODE, family, kind, value: text, ...key } }
}

function invalid(path: string, message: string): PaymeshError {
  return new PaymeshError('VALIDATION_ERROR', { details: [{ path, message }] })
}

/** `wallet prove`. */
export function addWalletProofCommand(wallet: Command): void {
  withProofOptions(
    wallet
      .command('prove')
      .description(
        'Print the text to sign to prove control of a live wallet, or of a new one. Run it again with the signature to submit the proof.',
      )
      .requiredOption('--workspace <id>', 'workspace that receives')
      .option('--wallet <id>', 'wallet of the workspace')
      .addOption(new Option('--family <family>', 'address family of the new wallet').choices(FAMILIES))
      .addOption(new Option('--kind <kind>', 'kind of wallet').choices(WALLET_KINDS))
      .option('--value <value>', 'the key, the list of addresses, or the address')
      .option('--file <path>', 'file that contains the value')
      .addOption(new Option('--script-type <type>', 'as for wallet add').choices(SCRIPT_TYPES))
      .option('--path <path>', 'as for wallet add'),
  )
    .option('--json', 'print one JSON value')
    .action(prove)
}
