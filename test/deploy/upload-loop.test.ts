import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { parse } from 'yaml'
import { type Document, deployYaml } from './deploy-files.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'paymesh-upload-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const ofCompose = (file: string): string =>
  deployYaml('compose', file).services['backup-upload'].entrypoint[2].replaceAll('$$', '$')
const rendered = readFileSync(new URL('rendered/backup-s3.generated.yaml', import.meta.url), 'utf8')
const ofChart = (): string =>
  rendered
    .split(/^---$/m)
    .map((text) => parse(text) as Document | null)
    .find((document) => document?.['kind'] === 'Deployment')
    ?.['spec'].template.spec.containers.find(({ name }: Document) => name === 'upload').args[0]

const LOOPS: Readonly<Record<string, () => string>> = {
  'compose.yaml': () => ofCompose('compose.yaml'),
  'serve.yaml': () => ofCompose('serve.yaml'),
  'the chart': ofChart,
}

/** Each copy takes so many seconds of a clock that stands still otherwise, and ends with that status. */
interface Copy {
  readonly tookS: number
  readonly status: 0 | 1
}

/** What rclone is called with by the loop over changes, and when; `date`, `sleep` and rclone are stand-ins. */
function callsOf(script: string, copies: readonly Copy[]) {
  const put = (name: string, lines: readonly string[]) =>
    writeFileSync(join(folder, name), ['#!/bin/sh', `cd '${folder}'`, ...lines, ''].join('\n'), { mode: 0o755 })
  writeFileSync(join(folder, 'clock'), '1000000')
  writeFileSync(join(folder, 'copies'), copies.map(({ tookS, status }) => `${tookS} ${status}\n`).join(''))
  put('date', ['cat clock'])
  put('sleep', ['exit 0'])
  put('rclone', [
    'echo "$(cat clock) $*" >> calls',
    'echo "$(cat copied-changes 2> /dev/null)" >> marks',
    'read -r took status < copies || { kill -9 $PPID; exit 1; }',
    'sed -i 1d copies',
    'echo $(($(cat clock) + took)) > next && mv next clock',
    'exit "$status"',
  ])
  const [loop = ''] = script.replaceAll('/copied/', `${folder}/copied-`).split('done &')
  const env = { PATH: `${folder}${delimiter}${process.env['PATH']}`, BACKUP_BUCKET: 'copies' }
  spawnSync('sh', ['-c', `${loop}done`], { env, timeout: 20_000 })
  const marks = readFileSync(join(folder, 'marks'), 'utf8').split('\n')
  return readFileSync(join(folder, 'calls'), 'utf8')
    .trim()
    .split('\n')
    .map((line, place) => ({
      mark: marks[place],
      at: Number(line.split(' ')[0]),
      maxAgeS: /--max-age (\d+)s /.exec(line)?.[1],
      isWhole: !line.includes('--max-age'),
    }))
}

// Guards data: changes that were made during a copy are in the next one, however long it took; one that is left out breaks the chain of all that follow.
it.each(Object.entries(LOOPS))('%s uploads what was made during a copy that took long', (_name, script) => {
  const copies = [60, 3_600, 5, 900, 0].map((tookS): Copy => ({ tookS, status: 0 }))
  const [first, ...others] = callsOf(script(), copies)
  expect(first?.isWhole).toBe(true)
  expect(others).toHaveLength(5)
  let beganLast = first?.at ?? 0
  for (const { at, maxAgeS } of others) {
    expect(at - Number(maxAgeS)).toBeLessThan(beganLast)
    beganLast = at
  }
})

it.each(Object.entries(LOOPS))(
  '%s looks at everything after a failure, and when the clock was set back',
  (_name, script) => {
    const calls = callsOf(script(), [
      { tookS: 5, status: 1 },
      { tookS: 5, status: 0 },
      { tookS: 5, status: 1 },
      { tookS: 5, status: 0 },
      { tookS: -7_200, status: 0 },
    ])
    expect(calls.map(({ isWhole }) => isWhole)).toEqual([true, true, false, true, false, true])
  },
)

// Guards data: the time by which an operator sees that copies fail is that of a copy that succeeded, never later than what it holds.
it.each(Object.entries(LOOPS))('%s says when the last copy that succeeded began', (_name, script) => {
  const calls = callsOf(script(), [
    { tookS: 5, status: 1 },
    { tookS: 60, status: 0 },
    { tookS: 900, status: 1 },
    { tookS: 5, status: 0 },
  ])
  expect(calls.map(({ mark }) => mark)).toEqual(['', '', '1000005', '1000005', '1000965'])
})

it.each(Object.entries(LOOPS))('%s says the same of archives, whether or not old ones are removed', (_name, script) => {
  const put = (name: string, line: string) => writeFileSync(join(folder, name), `#!/bin/sh\n${line}\n`, { mode: 0o755 })
  put('date', 'echo 1000000')
  put('sleep', 'kill -9 $PPID')
  put('find', 'exit 0')
  const run = (status: 0 | 1): string => {
    put('rclone', `exit ${status}`)
    const [, loop = ''] = script().replaceAll('/copied/', `${folder}/copied-`).split('done &')
    const env = { PATH: `${folder}${delimiter}${process.env['PATH']}`, BACKUP_BUCKET: 'copies', BACKUP_KEEP_DAYS: '30' }
    spawnSync('sh', ['-c', loop], { env, timeout: 20_000 })
    return readFileSync(join(folder, 'copied-archives'), { encoding: 'utf8', flag: 'a+' })
  }
  expect([run(1), run(0)]).toEqual(['', '1000000\n'])
})
