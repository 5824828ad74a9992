import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename, dirname, join, normalize } from 'node:path'
import { expect, test } from 'vitest'

const SOURCES = join(import.meta.dirname, '..')
const LIBRARY = dirname(createRequire(import.meta.url).resolve('@mantine/core/styles.css'))
const COMPONENTS = join(LIBRARY, 'esm/components')
/** The libraries beside it use these of its components without naming a file. */
const OF_OTHER_PACKAGES = ['Notification', 'ScrollArea', 'UnstyledButton']

const list = readFileSync(join(import.meta.dirname, 'components.css'), 'utf8')
const listed = [...list.matchAll(/styles\/([\w-]+)\.css/g)].map(([, name]) => name ?? '')

function sources(): string[] {
  return readdirSync(SOURCES, { recursive: true, encoding: 'utf8' })
    .filter((path) => /\.tsx?$/.test(path))
    .map((path) => readFileSync(join(SOURCES, path), 'utf8'))
}

/** Components that the pages import by name; types and hooks have no file of their own. */
function usedComponents(): string[] {
  const names = sources().flatMap((text) =>
    [...text.matchAll(/(?:import|export) \{([^}]*)\} from '@mantine\/core'/g)].flatMap(([, inner]) =>
      (inner ?? '').split(','),
    ),
  )
  return [...new Set(names.map((name) => name.trim().replace(/ as .*/, '')))].filter((name) => /^[A-Z]/.test(name))
}

/** Names of all style sheets whose class names a component reads, its parts included. */
function stylesOf(file: string, seen = new Set<string>()): Set<string> {
  const path = normalize(file)
  if (seen.has(path) || !existsSync(path)) return new Set()
  seen.add(path)
  const own = basename(path).match(/^(.+)\.module\.(?:css\.)?mjs$/)?.[1]
  if (own !== undefined) return new Set([own])
  const imports = [...readFileSync(path, 'utf8').matchAll(/(?:from|import) "(\.[^"]+)"/g)]
  return new Set(imports.flatMap(([, next]) => [...stylesOf(join(dirname(path), next ?? ''), seen)]))
}

test('every component that a page uses has its styles', () => {
  const used = [...usedComponents(), ...OF_OTHER_PACKAGES].filter((name) => existsSync(join(COMPONENTS, name)))
  expect(used).toEqual(expect.arrayContaining(['Button', 'Menu', 'Modal', 'Tooltip']))
  const needed = new Set(used.flatMap((name) => [...stylesOf(join(COMPONENTS, name, `${name}.mjs`))]))
  expect(needed).toContain('UnstyledButton')
  expect([...needed].filter((name) => !listed.includes(name))).toEqual([])
})

test('the styles stand in the order of the library, which decides between rules of equal weight', () => {
  const whole = readFileSync(join(LIBRARY, 'styles.css'), 'utf8')
  const places = listed.map((name) => whole.indexOf(readFileSync(join(LIBRARY, `styles/${name}.css`), 'utf8').trim()))
  expect(places).not.toContain(-1)
  expect(places).toEqual(places.toSorted((one, other) => one - other))
})
