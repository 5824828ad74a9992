import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import type { CommandOutcome } from '../command-line.ts'
import type { Compose } from './compose.ts'

/** Answers `docker compose …` of shells on a Unix socket. */
export interface DockerCommand {
  readonly socket: string
  close(): Promise<void>
}

const DONE: CommandOutcome = { status: 0, stdout: '', stderr: '' }

/** Listens until `close`. A command that the drill does not know ends with a message and status 125, as one that Docker does not know. */
export async function answerDocker(socket: string, compose: Compose): Promise<DockerCommand> {
  const server = createServer((incoming, outgoing) => {
    const answer = async (): Promise<CommandOutcome> => {
      const { folder, args } = JSON.parse(await text(incoming)) as { folder: string; args: readonly string[] }
      if (folder !== compose.folder) return refused(`no configuration file provided in ${folder}: not found`)
      return await runDocker(compose, args)
    }
    void answer()
      .catch((error: unknown) => refused(error instanceof Error ? error.message : String(error)))
      .then((ended) => outgoing.end(JSON.stringify(ended)))
  })
  // A command may wait for minutes until everything is healthy.
  server.requestTimeout = 0
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(socket, resolve)
  })
  return {
    socket,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

const refused = (message: string): CommandOutcome => ({ status: 125, stdout: '', stderr: `${message}\n` })

async function runDocker(compose: Compose, [first, ...rest]: readonly string[]): Promise<CommandOutcome> {
  if (first !== 'compose') return refused(`docker: '${first}' is no command of this drill`)
  const profiles: string[] = []
  while (rest[0] === '--profile') profiles.push(...rest.splice(0, 2).slice(1))
  const [verb, ...words] = rest
  const { flags, values, names } = split(words, verb === 'run' || verb === 'exec')
  const [service = '', ...command] = names
  const known = KNOWN[verb ?? '']
  const strange = flags.filter((flag) => known === undefined || !known.includes(flag))
  if (known === undefined || strange.length > 0)
    return refused(`docker compose ${verb} ${strange.join(' ')}: not a command of this drill`)
  if (verb === 'up') {
    if (flags.includes('--build')) await compose.build()
    await compose.up({ services: names, profiles, scale: values })
    return DONE
  }
  if (verb === 'down') await compose.down(profiles)
  if (verb === 'build') await compose.build()
  if (verb === 'run') return await compose.run(service, command)
  if (verb === 'exec') return await compose.exec(service, command)
  return verb === 'logs' ? { ...DONE, stdout: compose.logs(service) } : DONE
}

/** The commands and options that `deploy/README.md` uses. */
const KNOWN: Readonly<Record<string, readonly string[]>> = {
  up: ['-d', '--build', '--remove-orphans', '--scale'],
  down: [],
  build: [],
  run: ['--rm', '--no-deps'],
  exec: [],
  logs: [],
}

/** Options, `--scale NAME=COUNT`, and the other words; behind the first of these nothing is an option when a command follows. */
function split(words: readonly string[], hasCommand: boolean) {
  const flags: string[] = []
  const values: Record<string, number> = {}
  const names: string[] = []
  for (let index = 0; index < words.length; index += 1) {
    const word = words[index] ?? ''
    if (!word.startsWith('-') || (hasCommand && names.length > 0)) {
      names.push(word)
      continue
    }
    flags.push(word)
    if (word !== '--scale') continue
    index += 1
    const [name = '', count] = (words[index] ?? '').split('=')
    values[name] = Number(count)
  }
  return { flags, values, names }
}
