import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { type Check, describeCheck, isKept } from '../checks.ts'
import { type Machine, makeSystem, ORDINARY_USER, openMachine, type Person, ROOT_USER } from './machine.ts'

const USAGE = `usage: npm run drill:fresh -- [options]

Makes Debian's smallest system with Git and the Node of this machine, and runs the commands of the README on a clean clone of the last
commit: as an ordinary user, who installs what the commands print, and as root, for whom they install it. Needs root and debootstrap.
The status is 0 only when every check passed.

  --limited     of npm test only the look at what it needs, and the demo
  --system DIR  an earlier system: made there when there is none, never changed otherwise
`
/** The one command that brings what is missing, as scripts/machine/requirements.ts prints it. */
const COMMAND = /^ {2}(su -c '[^']+'|sudo sh -c '[^']+'|apt-get .+)$/m
const DEMO = 'npm run demo -- --exit'

const { values } = parseArgs({
  options: {
    limited: { type: 'boolean', default: false },
    system: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
})
const LOOK = 'npm test -- --only demo'
const TEST = values.limited ? LOOK : 'npm test'

/** Runs a command and checks its status: what it printed was shown while it ran. */
async function passes(machine: Machine, person: Person, line: string): Promise<Check> {
  process.stdout.write(`\n── ${person.name}: ${line} ──\n`)
  const { status } = await machine.run(person, line)
  const faults = status === 0 ? [] : [`ended with ${status}`]
  return { promise: `${person.name}: ${line}`, checked: 1, faults }
}

/** Runs a command that lacks something: it has to fail, and to print one command, which root then runs. */
async function isBrought(machine: Machine, line: string): Promise<readonly Check[]> {
  process.stdout.write(`\n── ${ORDINARY_USER.name}: ${line}, with something missing ──\n`)
  const { status, output } = await machine.run(ORDINARY_USER, line)
  const command = COMMAND.exec(output)?.[1]
  const faults = [
    ...(status === 0 ? ['ended with 0 although something was missing'] : []),
    ...(command === undefined ? ['printed no command that brings it'] : []),
  ]
  const promise = `${ORDINARY_USER.name}: ${line} fails and prints the command that brings what is missing`
  const printed = command === undefined ? [] : [await passes(machine, ROOT_USER, command)]
  return [{ promise, checked: 1, faults }, ...printed]
}

/** After an installation the clone is as it was: the lockfile is the one that was committed. */
async function isUnchanged(machine: Machine, person: Person): Promise<Check> {
  const { output } = await machine.run(person, 'git status --porcelain')
  const faults = output.split('\n').filter((line) => line !== '')
  return { promise: `${person.name}: npm install changes no file of the clone`, checked: 1, faults }
}

async function asOrdinaryUser(machine: Machine): Promise<readonly Check[]> {
  return [
    await passes(machine, ORDINARY_USER, 'npm install'),
    await isUnchanged(machine, ORDINARY_USER),
    ...(await isBrought(machine, DEMO)),
    await passes(machine, ORDINARY_USER, DEMO),
    ...(await isBrought(machine, LOOK)),
    await passes(machine, ORDINARY_USER, TEST),
  ]
}

async function asRoot(machine: Machine): Promise<readonly Check[]> {
  return [
    await passes(machine, ROOT_USER, 'npm install'),
    await isUnchanged(machine, ROOT_USER),
    await passes(machine, ROOT_USER, DEMO),
    await passes(machine, ROOT_USER, TEST),
  ]
}

async function drill(): Promise<readonly Check[]> {
  const dir = mkdtempSync(join(tmpdir(), 'paymesh-fresh-'))
  try {
    const system = values.system ?? join(dir, 'system')
    if (!existsSync(system)) {
      process.stdout.write('making the system\n')
      await makeSystem(system)
    }
    const checks: Check[] = []
    for (const part of [asOrdinaryUser, asRoot]) {
      const folder = join(dir, part.name)
      execFileSync('cp', ['-a', system, folder])
      checks.push(...(await part(await openMachine(folder, [ORDINARY_USER, ROOT_USER]))))
      // Half a million files: a program removes them faster than Node.
      execFileSync('rm', ['-rf', folder])
    }
    return checks
  } finally {
    execFileSync('rm', ['-rf', dir])
  }
}

if (values.help) {
  process.stdout.write(USAGE)
} else {
  const checks = await drill()
  process.stdout.write(`\n${checks.map(describeCheck).join('\n')}\n`)
  const failed = checks.filter((check) => !isKept(check)).length
  process.stdout.write(`\n${checks.length - failed} passed, ${failed} failed\n`)
  process.exitCode = failed === 0 ? 0 : 1
}
