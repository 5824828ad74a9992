import { type Command, Option } from 'commander'
import { ROLES, type Role, type User } from '#shared/ports/users.ts'
import { changeMember } from '#shared/usecases/accounts/change-member.ts'
import {
  createOperator,
  newPassword,
  resetAuthenticator,
  resetPassword,
} from '#shared/usecases/accounts/manage-operators.ts'
import { keysOfMember } from '#shared/usecases/workspaces/keys-of-member.ts'
import { actorName, deedByHand } from './session/actor.ts'
import { announced } from './session/announced.ts'
import { withInstallation } from './session/installation.ts'
import { type OutputOptions, print, table } from './text/output.ts'

interface CreateOptions extends OutputOptions {
  readonly email: string
  readonly name: string
  readonly workspace?: string
  readonly role: Role
  readonly instance?: true
}

function present({ id, email, name, isOperator, totp, createdAt }: User): object {
  return {
    id,
    email,
    name,
    instance_operator: isOperator,
    authenticator: totp !== null,
    created_at: new Date(createdAt).toISOString(),
  }
}

async function create(options: CreateOptions): Promise<void> {
  await withInstallation(async (installation) => {
    const { email, name, workspace, role, instance } = options
    const member = workspace === undefined ? null : { workspaceId: workspace, role }
    if (workspace !== undefined && (await installation.workspaces.findById(workspace)) === null)
      throw new Error(`There is no workspace ${workspace}.`)
    const password = newPassword(installation)
    const facts = { email, name, password, member, isOperator: instance === true, actor: actorName() }
    const user = await createOperator({ ...installation, ...announced(installation) }, facts)
    const text = `${user.email} can log in\n${password}\nThe password is not shown again. Change it after the first log-in.`
    print(options, { ...present(user), password }, text)
  })
}

/** Takes a person's membership, and prints the API keys that they created and that still work. */
async function remove(email: string, options: OutputOptions & { readonly workspace: string }): Promise<void> {
  await withInstallation(async (installation) => {
    const { workspace: workspaceId } = options
    const user = await installation.users.findByEmail(email.trim().toLowerCase())
    const member = user === null ? null : await installation.memberships.find(workspaceId, user.id)
    if (user === null || member === null) throw new Error(`${email} is not a member of ${workspaceId}.`)
    const about = { workspaceId, userId: user.id }
    const parts = { ...installation, ...announced(installation) }
    await changeMember(parts, { ...about, from: member.role, to: null, deed: deedByHand(installation) })
    const keys = await keysOfMember(installation, about)
    const rows = keys.map((key) => [key.id, key.mode, `…${key.last4}`, key.name ?? ''])
    const list = table(['ID', 'MODE', 'KEY', 'NAME'], rows, 'none')
    const text = `${user.email} was removed. API keys that they created and that still work (end one with: key revoke ID)\n${list}`
    const shown = keys.map(({ id, mode, last4, name = null }) => ({ id, mode, last4, name }))
    print(options, { removed: user.email, keys: shown }, text)
  })
}

/** `operator create | list | remove | reset-password | reset-totp`. */
export function addOperatorCommands(program: Command): void {
  const operator = program
    .command('operator')
    .description('Create people who log in to the dashboard, and help them back in.')
  operator
    .command('create')
    .description('Create a person; the password is made here and printed once.')
    .requiredOption('--email <address>', 'what they log in with')
    .requiredOption('--name <name>', 'as colleagues and the audit trail see them')
    .option('--workspace <id>', 'workspace they belong to')
    .addOption(new Option('--role <role>', 'role in the workspace').choices(ROLES).default('owner'))
    .option('--instance', 'also sees chains, queues, rates and the audit trail of the whole installation')
    .option('--json', 'print one JSON value')
    .action(create)
  operator
    .command('list')
    .description('List everybody who can log in.')
    .option('--json', 'print one JSON value')
    .action(async (options: OutputOptions) => {
      await withInstallation(async (installation) => {
        const found = await installation.users.list()
        const rows = found.map((one) => [
          one.email,
          one.name,
          one.isOperator ? 'instance' : '',
          one.totp === null ? 'password only' : 'authenticator',
        ])
        print(options, found.map(present), table(['E-MAIL', 'NAME', 'RUNS', 'LOG-IN'], rows, 'nobody can log in'))
      })
    })
  operator
    .command('remove <email>')
    .description('Remove a person from a workspace and print the API keys that they created and that still work.')
    .requiredOption('--workspace <id>', 'workspace they leave')
    .option('--json', 'print one JSON value')
    .action(remove)
  operator
    .command('reset-password <email>')
    .description('Make a new password, printed once, and end all sessions of the person.')
    .option('--json', 'print one JSON value')
    .action(async (email: string, options: OutputOptions) => {
      await withInstallation(async (installation) => {
        const password = newPassword(installation)
        const user = await resetPassword(installation, { email, password, actor: actorName() })
        print(options, { ...present(user), password }, `new password of ${user.email}\n${password}`)
      })
    })
  operator
    .command('reset-totp <email>')
    .description(
      'Take a lost authenticator away and end all sessions; the password alone logs in until a new one is set up.',
    )
    .option('--json', 'print one JSON value')
    .action(async (email: string, options: OutputOptions) => {
      await withInstallation(async (installation) => {
        const removed = await resetAuthenticator(installation, { email, actor: actorName() })
        print(
          options,
          { removed },
          removed ? `${email} logs in with the password alone` : `${email} has no authenticator`,
        )
      })
    })
}
