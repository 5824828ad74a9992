import { hostname } from 'node:os'
import { expect, it } from 'vitest'
import { createLogger } from './logger.ts'

function capture() {
  const lines: string[] = []
  return { lines, destination: { write: (line: string) => void lines.push(line) } }
}

// Guards access: no credential reaches the log, whichever of the two levels it sits on.
it.each(['authorization', 'secret', 'apiKey', 'password', 'xpub', 'masterKey'])('redacts %s', (field) => {
  const { lines, destination } = capture()
  const logger = createLogger({ name: 'api', level: 'info', destination })
  const marker = 'must-not-appear'
  logger.info({ [field]: marker }, 'top')
  logger.info({ headers: { [field]: marker } }, 'one level down')
  logger.info({ request: { headers: { [field]: marker } } }, 'two levels down')
  logger.child({ wallet: { [field]: marker } }).info({}, 'in a child')
  logger.child({ [field]: marker }).warn({ chain: 'base' }, 'at the top of a child')
  logger.child({ chain: 'base' }).error({ [field]: marker }, 'at the top, by a child')
  expect(lines).toHaveLength(6)
  expect(lines.join('')).not.toContain(marker)
  expect(lines.every((line) => line.includes('[redacted]'))).toBe(true)
})

it('writes one JSON line with level, process, fields and message, and the cause of an error', () => {
  const { lines, destination } = capture()
  const inner = new AggregateError([new Error('inner')], 'several')
  createLogger({ name: 'scanner', version: '1.2.3', level: 'info', destination }).error(
    { chain: 'base', error: new Error('outer', { cause: inner }) },
    'scan failed',
  )
  const line = JSON.parse(lines[0] ?? '')
  expect(line).toMatchObject({
    version: '1.2.3',
    host: hostname(),
    level: 'error',
    process: 'scanner',
    chain: 'base',
    msg: 'scan failed',
  })
  expect(JSON.stringify(line.error)).toContain('inner')
})

it('leaves out what is below the level', () => {
  const { lines, destination } = capture()
  createLogger({ name: 'api', level: 'warn', destination }).info({}, 'quiet')
  expect(lines).toEqual([])
})

// Guards access: errors of libraries carry requests and answers with credentials in them.
it('writes of an error what identifies it, and none of its other properties', () => {
  const { lines, destination } = capture()
  const error = Object.assign(new TypeError('failed'), {
    code: 'E_X',
    internal: 'why',
    response: { token: 'must-not-appear' },
  })
  createLogger({ name: 'api', level: 'info', destination }).warn({ err: error }, 'call failed')
  expect(JSON.parse(lines[0] ?? '').err).toMatchObject({
    type: 'TypeError',
    message: 'failed',
    code: 'E_X',
    internal: 'why',
  })
  expect(lines[0]).not.toContain('must-not-appear')
})
