// `npm run release -- X.Y.Z [--check]`: checks that the commit is a release as docs/versioning.md describes it, and makes the annotated
// tag vX.Y.Z. Prints every fault; the tag exists only when there is none. It pushes nothing. `--check` makes no tag. With the tag it packs
// the packages for Node into .cache/release, for the publisher of the release.
import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const NUMBER = /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)$/
const MIGRATIONS = 'shared/db/schema/migrations'
/** Where the number stands, besides package.json. */
const PLACES = {
  'package-lock.json': /^ {2}"version": "([^"]+)"/m,
  'clients/typescript/package.json': /^ {2}"version": "([^"]+)"/m,
  'clients/cli/package.json': /^ {2}"version": "([^"]+)"/m,
  'plugins/vendure/package.json': /^ {2}"version": "([^"]+)"/m,
  'plugins/medusa/package.json': /^ {2}"version": "([^"]+)"/m,
  'clients/typescript/src/version.ts': /CLIENT_VERSION = '([^']+)'/,
  'clients/python/pyproject.toml': /^version = "([^"]+)"/m,
  'clients/python/paymesh/_client.py': /^VERSION = "([^"]+)"/m,
  'clients/php/src/Paymesh.php': /VERSION = '([^']+)'/,
  'clients/go/client.go': /^const Version = "([^"]+)"/m,
  'deploy/helm/paymesh/Chart.yaml': /^version: "?([^"\n]+)"?$/m,
  'deploy/helm/paymesh/Chart.yaml (appVersion)': /^appVersion: "?([^"\n]+)"?$/m,
}

const USAGE = `usage: npm run release -- MAJOR.MINOR.PATCH [--check]
Checks that the last commit is a release as docs/versioning.md describes it, and makes the annotated tag vMAJOR.MINOR.PATCH.
Prints every fault, and makes no tag then. Nothing is pushed. Packs the client, the command line and the plug-ins for Node into .cache/release.
  --check  make no tag
`
if (process.argv.includes('--help')) {
  process.stdout.write(USAGE)
  process.exit(0)
}
const [version = '', option] = process.argv.slice(2)
if (!NUMBER.test(version) || (option !== undefined && option !== '--check')) {
  process.stderr.write(USAGE)
  process.exit(2)
}

const git = (...args) => execFileSync('git', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }).trim()
const root = git('rev-parse', '--show-toplevel')
const read = (path) => readFileSync(join(root, path), 'utf8')
const tag = `v${version}`
const faults = []
const check = (isRight, fault) => {
  if (!isRight) faults.push(fault)
}

/** Releases so far, the newest first. */
const releases = git('tag', '--list', 'v*', '--sort=-v:refname')
  .split('\n')
  .filter((name) => NUMBER.test(name.slice(1)))

function checkNumber() {
  check(!releases.includes(tag), `${tag} exists: a tag is never moved, a mistake gets the next PATCH`)
  const [latest] = releases.filter((name) => name !== tag)
  if (latest === undefined) return
  const [before, now] = [latest.slice(1).split('.').map(Number), version.split('.').map(Number)]
  const at = now.findIndex((part, index) => part !== before[index])
  const isNext = at >= 0 && now[at] === before[at] + 1 && now.slice(at + 1).every((part) => part === 0)
  // A PATCH of an earlier MINOR comes from a branch; its number is not the next one of the newest release.
  const isBackport = !isNext && releases.includes(`v${now[0]}.${now[1]}.${now[2] - 1}`)
  check(isNext || isBackport, `${version} does not follow ${latest.slice(1)}`)
}

function checkTree() {
  check(git('status', '--porcelain') === '', 'the tree has changes or files that are not committed')
  const subject = git('log', '-1', '--format=%s')
  check(subject === `Release ${version}`, `the last commit is "${subject}", not "Release ${version}"`)
}

function checkNumbers() {
  check(
    JSON.parse(read('package.json')).version === version,
    `package.json says ${JSON.parse(read('package.json')).version}`,
  )
  for (const [place, pattern] of Object.entries(PLACES)) {
    const found = pattern.exec(read(place.split(' ')[0]))?.[1]
    check(found === version, `${place} says ${found ?? 'nothing'}`)
  }
}

/** The interface has its own version, which its document, the code and the policy state. */
function checkInterface() {
  const document = JSON.parse(read('docs/openapi.json')).info.version
  const code = /API_VERSION = '([^']+)'/.exec(read('shared/contracts/webhooks/event.ts'))?.[1]
  check(
    code === document,
    `docs/openapi.json has the interface version ${document}, the code ${code}: npm run gen:openapi`,
  )
  check(
    read('docs/versioning.md').includes(`\`${document}\``),
    `docs/versioning.md does not name the interface version ${document}`,
  )
}

function checkChangelog() {
  const sections = read('CHANGELOG.md').split(/^## /m)
  const entriesOf = (title) => {
    const section = sections.find((text) => text.startsWith(`[${title}]`))
    return section === undefined ? null : (section.match(/^\* /gm) ?? []).length
  }
  check((entriesOf('Unreleased') ?? 0) === 0, 'CHANGELOG.md has entries under Unreleased: move them below the number')
  check(entriesOf(version) !== null, `CHANGELOG.md has no section [${version}]`)
  check(entriesOf(version) !== 0, `the section [${version}] of CHANGELOG.md is empty`)
  const [, date] =
    new RegExp(`^## \\[${version.replaceAll('.', '\\.')}\\] - (\\d{4}-\\d{2}-\\d{2})$`, 'm').exec(
      read('CHANGELOG.md'),
    ) ?? []
  if (entriesOf(version) === null) return
  check(date !== undefined, `the section [${version}] of CHANGELOG.md has no date`)
  check(
    date === undefined || date <= new Date().toISOString().slice(0, 10),
    `the section [${version}] is dated in the future: ${date}`,
  )
}

/** Migrations of a commit: number, the oldest version whose code may work on the result, and file. */
function migrationsAt(commit) {
  return git('ls-tree', '--name-only', `${commit}:${MIGRATIONS}`)
    .split('\n')
    .filter((name) => /^\d{4}-.*(?<!\.test)\.ts$/.test(name))
    .map((name) => {
      const text = git('show', `${commit}:${MIGRATIONS}/${name}`)
      const numberAt = (key) => Number(new RegExp(`^ {2}${key}: (\\d+),$`, 'm').exec(text)?.[1] ?? Number.NaN)
      return { name, id: numberAt('id'), readableBy: numberAt('readableBy') }
    })
}

// Guarantee of docs/versioning.md: processes of a release and of the one before work side by side, so no migration may shut the latter out.
function checkMigrations() {
  const now = migrationsAt('HEAD')
  for (const [index, { name, id, readableBy }] of now.entries()) {
    check(id === index + 1 && Number(name.slice(0, 4)) === id, `${name}: its id is ${id}, its place ${index + 1}`)
    check(readableBy >= 0 && readableBy <= id, `${name}: readableBy is ${readableBy}`)
  }
  const [latest] = releases.filter((name) => name !== tag)
  if (latest === undefined) return
  const before = migrationsAt(latest)
  const newest = before.at(-1)?.id ?? 0
  for (const old of before) {
    const same = now.find(({ id }) => id === old.id)
    check(
      same?.name === old.name && same.readableBy === old.readableBy,
      `${old.name} of ${latest} was changed or removed`,
    )
  }
  for (const { name, id, readableBy } of now)
    if (id > newest)
      check(
        readableBy <= newest,
        `${name}: readableBy ${readableBy} shuts out ${latest}, whose newest migration is ${newest}`,
      )
}

/** Packs before the tag: a package that does not build is no release. */
function pack() {
  const target = join(root, '.cache/release')
  mkdirSync(target, { recursive: true })
  for (const name of ['clients/typescript', 'clients/cli', 'plugins/vendure', 'plugins/medusa']) {
    // Their own scripts build them; those of others stay off.
    const args = ['pack', '--silent', '--ignore-scripts=false', '--pack-destination', target]
    execFileSync('npm', args, { cwd: join(root, name), stdio: ['ignore', 'ignore', 'inherit'] })
  }
  process.stdout.write(`packed into ${target}\n`)
}

for (const part of [checkNumber, checkTree, checkNumbers, checkInterface, checkChangelog, checkMigrations]) part()
if (faults.length > 0) {
  process.stderr.write(`${faults.map((fault) => `✗ ${fault}`).join('\n')}\n${tag} was not made\n`)
  process.exitCode = 1
} else if (option === '--check') {
  process.stdout.write(`${tag} can be made\n`)
} else {
  pack()
  git('tag', '--annotate', tag, '--message', `Paymesh ${version}`)
  process.stdout.write(
    `made ${tag} at ${git('rev-parse', '--short', 'HEAD')}; publish it with: git push origin ${tag}\n`,
  )
}
