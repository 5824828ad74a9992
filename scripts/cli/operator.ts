import { type Command, Option } from 'commander'
import { createOperator, newPassword, resetAuthenticator, resetPassword } from '#shared/usecases/manage-operators.ts'
import { ROLES, type Role, type User } from '#shared/usecases/ports/operators.ts'
import { actorName } from './actor.ts'
import { withInstallation } from './installation.ts'
import { type OutputOptions, print, table } from './output.ts'

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
    const user = await createOperator(installation, facts)
    const text = `${user.email} can log in\n${password}\nThe password is not shown again. Change it after the first log-in.`
    print(options, { ...present(user), password }, text)
  })
}

/** `operator create | list | reset-password | reset-totp`. */
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
