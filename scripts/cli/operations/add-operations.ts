import { writeFile } from 'node:fs/promises'
import { setTimeout as pause } from 'node:timers/promises'
import { type Command, Option } from 'commander'
import type { Installation } from '#scripts/cli/session/installation.ts'
import { type OperatorCaller, type ProcedurePath, withOperatorCaller } from '#scripts/cli/session/operator-caller.ts'
import { type OutputOptions, print, table } from '#scripts/cli/text/output.ts'
import { chainCommandWire } from '#shared/contracts/chain-commands.ts'
import { PaymeshError } from '#shared/contracts/errors.ts'
import { fundsCsv } from '#shared/contracts/funds-csv.ts'
import type { Wallet } from '#shared/db/wallets/wallet-models.ts'
import { MODES, type Mode, NETWORK_IDS, type NetworkId } from '#shared/domain/enumerations.ts'
import { type FundsLine, fundsTotals, mayHold } from '#shared/domain/funds/funds-line.ts'
import { FUNDS_PAGE } from '#shared/ports/funds.ts'
import { onlyMode } from '#shared/usecases/networks/only-mode.ts'
import { fundsText, isComplete, type NetworkFunds } from '../text/funds-text.ts'
import { wholeNumber } from '../text/whole-number.ts'
import { addFlags, type Field, fieldsOf, inputFrom, inputOf, isScoped, wordOf } from './input-flags.ts'
import type { Operation } from './operation.ts'
import { type Scope, scopeOf, scopesOf } from './subjects.ts'
import { GROUPS, OPERATIONS } from './table.ts'

/** Adds every command of the table, with flags from the inputs of its procedures, and `wallet funds`, which reads many pages. */
export function addOperations(program: Command): void {
  for (const [group, help] of Object.entries(GROUPS)) {
    const parent = program.command(group).description(help)
    for (const [words, operation] of Object.entries(OPERATIONS)) {
      const [first, name = ''] = words.split(' ')
      if (first === group) addOperation(parent.command(name, { isDefault: words === 'go-live check' }), operation)
    }
    if (group === 'wallet') addWalletFundsCommand(parent)
  }
}

const parseSeconds = wholeNumber(/^\d{1,4}$/, 'a whole number of seconds')

function addOperation(command: Command, operation: Operation): void {
  const { procedure, help, operands = [], about, isList, mode, takesMode, dryRun, flags } = operation
  command.description(help)
  const fields = proceduresOf(operation).flatMap((one) => fieldsOf(one, flags))
  for (const operand of operands) {
    const field = fields.find(({ path }) => path.join('.') === operand)
    command.argument(`<${operand}>`, field?.choices?.join(', ') ?? '')
  }
  if (about === undefined && isScoped(procedure)) {
    const workspace = new Option('--workspace <id>', isList ? 'only of this workspace' : 'workspace it concerns')
    command.addOption(isList ? workspace : workspace.makeOptionMandatory())
    const modes = new Option('--mode <mode>', isList ? 'only of this mode' : 'live or test').choices(MODES)
    command.addOption(mode !== undefined ? modes.default(mode) : isList ? modes : modes.makeOptionMandatory())
  }
  if (takesMode)
    command.addOption(new Option('--mode <mode>', 'for endpoints of both modes (default: test)').choices(MODES))
  addFlags(
    command,
    operation.with === undefined ? fields : fields.map((one) => ({ ...one, isRequired: false })),
    operands,
  )
  if (dryRun !== undefined) command.option('--dry-run', 'show what it concerns, or the effect; change nothing')
  if (operation.waits) {
    const help = 'how long to wait for the request before leaving it to the scanner'
    command.option('--wait <seconds>', help, parseSeconds, 15)
  }
  command.option('--json', 'print one JSON value: the output of the procedure')
  command.action(() => runOperation(command, operation))
}

interface Options extends Readonly<Record<string, unknown>> {
  readonly workspace?: string
  readonly mode?: Mode
  readonly dryRun?: boolean
  readonly wait?: number
  readonly json?: boolean
}

const POLL_EVERY_MS = 200

/** The procedures whose fields are flags of a command. */
const proceduresOf = (operation: Operation): readonly ProcedurePath[] =>
  [operation.procedure, operation.with?.[1]].filter((one) => one !== undefined)

/** Runs a command of the table. Ends with a usage error for an input that its procedure does not take. */
async function runOperation(command: Command, operation: Operation): Promise<void> {
  const options: Options = command.opts()
  const { procedure: usual, operands = [], flags, fixed, about } = operation
  const isOther = operation.with !== undefined && options[operation.with[0]] !== undefined
  const procedure = (options.dryRun ? operation.dryRun : isOther ? operation.with?.[1] : undefined) ?? usual
  const places = Object.fromEntries(operands.map((operand, index) => [operand, command.args[index] ?? '']))
  const fields = fieldsOf(options.dryRun ? usual : procedure, flags)
  const entered = { ...inputFrom(fields, { operands: places, options }), ...fixed }
  const given = pick(entered, procedure)
  check(command, procedure, given, { fields, operands, options, about })
  await withOperatorCaller(async (caller) => {
    const { installation } = caller
    const input = withMode(installation, procedure, given)
    try {
      const answer = operation.isList
        ? await listAll(caller, operation, input, options)
        : await callOnce(caller, operation, procedure, { entered, input, options })
      const isUsual = procedure === usual
      const output = isUsual && operation.waits ? await whenRun(installation, answer, options.wait ?? 0) : answer
      const plain = (value: unknown) => plainText(value, isUsual ? operation.columns : [])
      const textOf = ((isUsual ? operation.text : options.dryRun && operation.dryText) || plain) as TextOf
      // The note is about what the command usually does.
      const note = operation.note === undefined || !isUsual ? '' : `\n${operation.note}`
      print(options, output, options.json ? '' : `${await textOf(output, input, installation)}${note}`)
      if (operation.isFailure?.(output as never) === true) process.exitCode = 1
    } catch (error) {
      const hint = options.json || !isRefused(error) ? undefined : operation.whenRefused
      if (hint !== undefined) process.stderr.write(`${hint}\n`)
      throw error
    }
  })
}

type TextOf = (output: unknown, input: object, installation: Installation) => string | Promise<string>

/** The input with the only mode in which its network has a node, unless it names one. */
function withMode(
  { catalog }: Installation,
  procedure: ProcedurePath,
  input: Readonly<Record<string, unknown>>,
): object {
  const { network, mode } = input
  const isOpen = network !== undefined && mode === undefined && 'mode' in inputOf(procedure).shape
  return isOpen && !isScoped(procedure) ? { ...input, mode: onlyMode(catalog, network as NetworkId) } : input
}

/** An output with its request to a scanner as it is once that has ended, or after so many seconds. */
async function whenRun({ commands }: Installation, output: unknown, seconds: number): Promise<unknown> {
  const { command } = output as { readonly command: { readonly id: string } | null }
  if (command === null) return output
  const until = performance.now() + seconds * 1_000
  for (;;) {
    const now = await commands.findById(command.id)
    if (now === null || now.status !== 'open' || performance.now() >= until)
      return { ...(output as object), command: now === null ? null : chainCommandWire.parse(now) }
    await pause(POLL_EVERY_MS)
  }
}

const isRefused = (error: unknown): boolean =>
  error instanceof Error && error.cause instanceof PaymeshError && error.cause.code === 'INVALID_STATE'

/** The part of an input that a procedure takes: a preview takes no reason. */
function pick(entered: Readonly<Record<string, unknown>>, procedure: ProcedurePath): Record<string, unknown> {
  const { shape } = inputOf(procedure)
  return Object.fromEntries(Object.entries(entered).filter(([name]) => name in shape))
}

/** Ends with a usage error that names the flag. The thing that names the workspace is looked up later. */
function check(
  command: Command,
  procedure: ProcedurePath,
  input: Readonly<Record<string, unknown>>,
  {
    fields,
    operands,
    options,
    about,
  }: {
    readonly fields: readonly Field[]
    readonly operands: readonly string[]
    readonly options: Options
    readonly about: Operation['about']
  },
): void {
  const schema = inputOf(procedure)
  const later = ['opId', 'mode', about?.[1] ?? '']
  const filled = { ...input, ...(options.workspace !== undefined && { workspaceId: options.workspace }) }
  const result = schema.safeParse(filled)
  const issues = (result.error?.issues ?? []).filter(({ path: [first] }) => {
    return !later.includes(String(first)) && (first !== 'workspaceId' || options.workspace !== undefined)
  })
  if (issues.length === 0) return
  const lines = issues.map(({ path, message }) => `${wordOf(fields, operands, path)}: ${message}`)
  command.error(`error: ${lines.join('\n  ')}`)
}

/** Fields that the skin fills: the workspace and mode, and a new id for what changes something. */
function filled(caller: OperatorCaller, procedure: ProcedurePath, input: object, scope: Scope | null): object {
  const needsId = 'opId' in inputOf(procedure).shape
  return { ...input, ...scope, ...(needsId && { opId: caller.installation.random.uuid() }) }
}

async function callOnce(
  caller: OperatorCaller,
  { about, ownerless, shows, also, remark }: Operation,
  procedure: ProcedurePath,
  {
    entered,
    input,
    options,
  }: { readonly entered: Readonly<Record<string, unknown>>; readonly input: object; readonly options: Options },
): Promise<unknown> {
  const { installation, call } = caller
  const id = String(entered[about?.[1] ?? ''])
  const named =
    about === undefined && isScoped(procedure)
      ? { workspaceId: options.workspace ?? '', mode: options.mode ?? 'live' }
      : null
  const scope = about === undefined ? named : await scopeOf(installation, about[0], id, options.mode)
  if (scope === null && about !== undefined) {
    if (ownerless === undefined) throw new PaymeshError('NOT_FOUND')
    if (options.dryRun) return await installation.exceptions.findById(id)
    return await call(ownerless, filled(caller, ownerless, input, null))
  }
  const output = await call(procedure, filled(caller, procedure, input, scope))
  if (remark !== undefined) process.stderr.write(`${remark(output as never, installation.config.checkout.baseUrl)}\n`)
  if (also !== undefined) return { ...(output as object), ...((await call(also, {})) as object) }
  return shows === undefined ? output : await call(shows, { ...scope })
}

interface ListPage {
  readonly items: readonly { readonly id: string }[]
  readonly nextCursor?: string | null
}

/** The items of every workspace and mode that is named, each with them. A thing of both modes is listed once. */
async function listAll(
  caller: OperatorCaller,
  { procedure, ownerless, isWhole }: Operation,
  input: object,
  options: Options,
): Promise<ListPage> {
  const items = new Map<string, ListPage['items'][number]>()
  const add = async (path: ProcedurePath, scope: object, page: object): Promise<void> => {
    const output = (await caller.call(path, page)) as ListPage
    for (const item of output.items) if (!items.has(item.id)) items.set(item.id, { ...scope, ...item })
    if (isWhole && output.nextCursor != null) await add(path, scope, { ...page, cursor: output.nextCursor })
  }
  const isFiltered = options.workspace !== undefined || Object.keys(input).length > 0
  if (ownerless !== undefined && !isFiltered) await add(ownerless, { workspaceId: null, mode: null }, {})
  for (const scope of await scopesOf(caller.installation, options)) await add(procedure, scope, { ...input, ...scope })
  return { items: [...items.values()] }
}

const TIME = /(^|[a-z])(At|at|Until|until|since|reached)$/

/** A value as a person reads it: times as ISO 8601, lists on one line. */
function cell(value: unknown, name: string): string {
  if (value === null || value === undefined || value === '') return '-'
  if (typeof value === 'number' && TIME.test(name) && value > 1e11) return new Date(value).toISOString()
  if (Array.isArray(value) && value.every((item) => typeof item !== 'object')) return value.join(',') || '-'
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

const at = (item: unknown, path: string): unknown =>
  path.split('.').reduce<unknown>((inner, name) => Reflect.get(Object(inner), name), item)

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/**
 * The output of a procedure for a person: a table of `columns` for an output with `items`, otherwise one `name: value` on a line, with
 * nested objects indented and lists of objects as tables.
 */
export function plainText(output: unknown, columns: readonly string[] = []): string {
  if (columns.length === 0 || !isObject(output) || !Array.isArray(output['items'])) return lines(output, '').join('\n')
  const head = columns.map((path) => path.split('.').at(-1)?.toUpperCase() ?? '')
  const rows = output['items'].map((item) => columns.map((path) => cell(at(item, path), path)))
  return table(head, rows, 'none')
}

function lines(value: unknown, indent: string): readonly string[] {
  if (!isObject(value)) return [`${indent}${cell(value, '')}`]
  const width = Math.max(0, ...Object.keys(value).map((name) => name.length))
  return Object.entries(value).flatMap(([name, item]) => {
    if (isObject(item)) return [`${indent}${name}:`, ...lines(item, `${indent}  `)]
    if (Array.isArray(item) && item.some(isObject))
      return [`${indent}${name}:`, ...item.flatMap((one) => [`${indent}  -`, ...lines(one, `${indent}    `)])]
    return [`${indent}${name.padEnd(width)}  ${cell(item, name)}`]
  })
}

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
function addWalletFundsCommand(wallet: Command): void {
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
