import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, it } from 'vitest'

const inFolder = (folder: string) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.md'))
    .map((path) => join(folder, path))
const atTheRoot = readdirSync('.').filter((path) => path.endsWith('.md'))
/** `TEMPLATE.md` shows the form of a link with a file that is made up. */
const documents = [...atTheRoot, ...inFolder('docs'), ...inFolder('deploy')].filter(
  (path) => !path.endsWith('TEMPLATE.md'),
)

/** Links of a document that lead to no file; links to other hosts and within the page are left out. */
function deadLinks(path: string, text: string): readonly string[] {
  const targets = [...text.matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = '']) => target.split('#')[0] ?? '')
  const local = targets.filter((target) => target !== '' && !/^[a-z]+:/.test(target))
  return local.filter((target) => !existsSync(join(dirname(path), target)))
}

it.each(documents)('%s links to files that exist', (path) => {
  expect(deadLinks(path, readFileSync(path, 'utf8'))).toEqual([])
})

it('finds a link that leads nowhere', () => {
  expect(
    deadLinks('docs/x.md', '[a](upgrading.md#b) [b](../README.md) [c](gone.md#d) [d](https://example.com)'),
  ).toEqual(['gone.md'])
})
