import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** Most source files in one folder; tests do not count. */
export const FOLDER_FILES_MAX = 30
/** Ports have one file per aggregate and no subfolders. */
const UNLIMITED = new Set(['shared/ports'])
const ROOTS = ['shared', 'services', 'scripts', 'dev']
/** Layers from the bottom up; a layer imports itself and lower ones. */
const LAYERS: readonly (readonly string[])[] = [
  ['shared/domain'],
  ['shared/contracts'],
  ['shared/ports'],
  ['shared/db'],
  ['shared/usecases'],
  ['shared/config', 'shared/runtime', 'shared/queues', 'shared/chains', 'shared/styles'],
  ['services'],
  ['scripts', 'dev'],
]
const SOURCE = /\.(tsx?|m[jt]s|css)$/
const TEST = /\.(test|fixture)\.tsx?$/

/** One import: paths of both files from the root of the repository. */
export type FileImport = readonly [from: string, to: string]

/** Source files without tests below the folders (all that have layers, by default), as paths from `root`. */
export function sourceFiles(root: string, folders: readonly string[] = ROOTS): readonly string[] {
  return folders.flatMap((folder) => below(root, folder)).filter((file) => SOURCE.test(file) && !TEST.test(file))
}

function below(root: string, folder: string): readonly string[] {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`
    if (entry.isDirectory()) return entry.name === 'node_modules' || entry.name === 'dist' ? [] : below(root, path)
    return [path]
  })
}

/**
 * Static and dynamic imports of repository files by these files; imports of packages are left out, and so are those of the types of records
 * by ports: they follow from the fields of a collection, and the rule `ports-take-types-of-records` sees to it that nothing runs.
 */
export function fileImports(root: string, files: readonly string[]): readonly FileImport[] {
  const known = new Set(files)
  const pattern = /\b(?:from|import)\s*(?:\(\s*)?['"](?:#|(?=\.))([^'"]+)['"]/g
  return files.flatMap((file) =>
    [...readFileSync(join(root, file), 'utf8').matchAll(pattern)].flatMap(([, path = '']): FileImport[] => {
      const target = path.startsWith('.') ? join(dirname(file), path) : path
      return known.has(target) && !isRecordType(file, target) ? [[file, target]] : []
    }),
  )
}

const isRecordType = (file: string, target: string): boolean =>
  file.startsWith('shared/ports/') && target.startsWith('shared/db/') && /-models?\.ts$/.test(target)

/**
 * The folder of a file in the drawing: `shared/<layer>/<subject>`, or `shared/<layer>` for a file of the layer
 * itself; `services/<process>`; `scripts/<part>`; `dev/<part>`. Deeper folders belong to these. A file directly in `services`, `scripts` or `dev` is a
 * program and counts as a separate folder.
 */
export function folderOf(file: string): string {
  const parts = dirname(file).split('/')
  if (parts.length === 1) return file
  return parts.slice(0, parts[0] === 'shared' ? 3 : 2).join('/')
}

/** Folders with more source files directly in them than `FOLDER_FILES_MAX`, with the number. */
export function crowdedFolders(files: readonly string[]): readonly string[] {
  const counts = new Map<string, number>()
  for (const file of files) counts.set(dirname(file), (counts.get(dirname(file)) ?? 0) + 1)
  return [...counts]
    .filter(([folder, count]) => count > FOLDER_FILES_MAX && !UNLIMITED.has(folder))
    .map(([folder, count]) => `${folder}: ${count}`)
}

/** Imports of a higher layer, as `from → to`. */
export function upwardArrows(imports: readonly FileImport[]): readonly string[] {
  return imports.filter(([from, to]) => layerOf(to) > layerOf(from)).map(([from, to]) => `${from} → ${to}`)
}

function layerOf(file: string): number {
  return LAYERS.findIndex((layer) => layer.some((folder) => file.startsWith(`${folder}/`)))
}

/** Circles in the drawing of folders, each as the list of its folders, in alphabetical order. */
export function folderCircles(imports: readonly FileImport[]): readonly string[] {
  const arrows = new Map<string, Set<string>>()
  for (const [from, to] of imports) {
    const targets = arrows.get(folderOf(from)) ?? new Set()
    if (folderOf(to) !== folderOf(from)) targets.add(folderOf(to))
    arrows.set(folderOf(from), targets)
  }
  const reached = new Map([...arrows.keys()].map((folder) => [folder, reachedFrom(folder, arrows)]))
  const circles = [...reached.keys()].map((folder) =>
    [...reached.keys()].filter((other) => reached.get(folder)?.has(other) && reached.get(other)?.has(folder)).sort(),
  )
  return [...new Set(circles.filter((circle) => circle.length > 1).map((circle) => circle.join(' ↔ ')))]
}

function reachedFrom(start: string, arrows: ReadonlyMap<string, ReadonlySet<string>>): ReadonlySet<string> {
  const reached = new Set<string>()
  const open = [start]
  for (let folder = open.pop(); folder !== undefined; folder = open.pop()) {
    for (const next of arrows.get(folder) ?? []) {
      if (reached.has(next)) continue
      reached.add(next)
      open.push(next)
    }
  }
  return reached
}

/**
 * Folders of the drawing that are missing from the table of `ARCHITECTURE.md`. A row names `shared/usecases/invoices` when it contains
 * the parent in backticks, with its slash, followed by the word `invoices`. A store folder with the name of a subject of use
 * cases is covered by that row.
 */
export function unnamedFolders(files: readonly string[], architecture: string): readonly string[] {
  const rows = architecture.split('\n').filter((line) => line.startsWith('| `'))
  const places = files.filter((file) => folderOf(file) !== file).map(folderOf)
  const folders = new Set(places.flatMap((folder) => [folder, dirname(folder)]))
  const isNamed = (folder: string) => rows.some((row) => names(row, folder))
  return [...folders]
    .filter(
      (folder) =>
        folder.includes('/') && !isNamed(folder) && !isNamed(folder.replace(/^shared\/db\//, 'shared/usecases/')),
    )
    .sort()
}

function names(row: string, folder: string): boolean {
  if (row.includes(`\`${folder}/\``)) return true
  const parent = row.indexOf(`\`${dirname(folder)}/\``)
  const name = folder.slice(dirname(folder).length + 1)
  return (
    parent >= 0 && new RegExp(`(?<![\\w/-])${name}(?![\\w/-])`).test(row.slice(parent + dirname(folder).length + 3))
  )
}
