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
import { actorName, manualAction } from './session/actor.ts'
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
      throw new Error(`Workspace ${workspace} not found.`)
    const password = newPassword(installation)
    const facts = { email, name, password, member, isOperator: instance === true, actor: actorName() }
    const user = await createOperator({ ...installation, ...announced(installation) }, facts)
    const text = `${user.email} can log in
${password}\nSave the password now: it is not shown again. Change it after the first log-in.`
    print(options, { ...present(user), password }, text)
  })
}

/** Removes a person's membership, and prints the API keys that they created and that are still active. */
async function remove(email: string, options: OutputOptions & { readonly workspace: string }): Promise<void> {
  await withInstallation(async (installation) => {
    const { workspace: workspaceId } = options
    const user = await installation.users.findByEmail(email.trim().toLowerCase())
    const member = user === null ? null : await installation.memberships.find(workspaceId, user.id)
    if (user === null || member === null) throw new Error(`${email} is not a member of ${workspaceId}.`)
    const about = { workspaceId, userId: user.id }
    const parts = { ...installation, ...announced(installation) }
    await changeMember(parts, { ...about, from: member.role, to: null, action: manualAction(installation) })
    const keys = await keysOfMember(installation, about)
    const rows = keys.map((key) => [key.id, key.mode, `…${key.last4}`, key.name ?? ''])
    const list = table(['ID', 'MODE', 'KEY', 'NAME'], rows, 'none')
    const text = `${user.email} was removed. They created these API keys, which still work (revoke with: api-key revoke ID)\n${list}`
    const shown = keys.map(({ id, mode, last4, name = null }) => ({ id, mode, last4, name }))
    print(options, { removed: user.email, keys: shown }, text)
  })
}

/** `operator create | list | remove | reset-password | reset-totp`. */
export function addOperatorCommands(program: Command): void {
  const operator = program.command('operator').description('Manage dashboard users and reset their log-ins.')
  operator
    .command('create')
    .description('Create a user. The password is generated and printed once.')
    .requiredOption('--email <address>', 'email address for the log-in')
    .requiredOption('--name <name>', 'name shown to other users and in the audit log')
    .option('--workspace <id>', 'workspace of the user')
    .addOption(new Option('--role <role>', 'role in the workspace').choices(ROLES).default('owner'))
    .option(
      '--instance',
      'instance administrator: also sees chains, queues, rates and the audit log of the whole installation',
    )
    .option('--json', 'print one JSON value')
    .action(create)
  operator
    .command('list')
    .description('List all users.')
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
        print(options, found.map(present), table(['E-MAIL', 'NAME', 'RUNS', 'LOG-IN'], rows, 'no users'))
      })
    })
  operator
    .command('remove <email>')
    .description('Remove a user from a workspace and print the API keys that they created and that still work.')
    .requiredOption('--workspace <id>', 'workspace to remove them from')
    .option('--json', 'print one JSON value')
    .action(remove)
  operator
    .command('reset-password <email>')
    .description('Create a new password, printed once, and log the user out everywhere.')
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
      'Turn off two-factor authentication after a lost device and log the user out everywhere. They log in with the password only until they turn it on again.',
    )
    .option('--json', 'print one JSON value')
    .action(async (email: string, options: OutputOptions) => {
      await withInstallation(async (installation) => {
        const removed = await resetAuthenticator(installation, { email, actor: actorName() })
        print(
          options,
          { removed },
          removed ? `${email} now logs in with the password only` : `${email} has no two-factor authentication`,
        )
      })
    })
}
