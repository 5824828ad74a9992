import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join, relative } from 'node:path'
import { parse, parseAllDocuments } from 'yaml'
import { ROOT } from '#scripts/bundle.mjs'
import { readProcfile } from '#scripts/start/procfile.ts'

/** Any parsed document; tests narrow what they look at. */
// biome-ignore lint/suspicious/noExplicitAny: documents of foreign formats, whose shapes are checked by their schemas
export type Document = any

/** Absolute path of a file or folder below `deploy/`. */
export const deployPath = (...parts: readonly string[]): string => join(ROOT, 'deploy', ...parts)

/** The text of a file below `deploy/`. */
export const deployText = (...parts: readonly string[]): string => readFileSync(deployPath(...parts), 'utf8')

/** A YAML file below `deploy/`, merge keys followed. Throws for duplicate keys and other faults. */
export const deployYaml = (...parts: readonly string[]): Document => parse(deployText(...parts), { merge: true })

/** Every document of a YAML stream; empty ones are left out. */
export function yamlDocuments(text: string): readonly Document[] {
  return parseAllDocuments(text).flatMap((document) => {
    for (const fault of document.errors) throw fault
    const value: Document = document.toJS()
    return value === null ? [] : [value]
  })
}

/** The Deployments of the Procfile's processes: all but that of the back-up, which serves no port and runs once. */
export const processesOf = (documents: readonly Document[]): readonly Document[] =>
  documents.filter(({ kind, metadata }) => kind === 'Deployment' && metadata.name !== 'pay-backup')

/** Paths of all files below `deploy/`, relative to it. */
export function deployFiles(folder = deployPath()): readonly string[] {
  return readdirSync(folder).flatMap((name) => {
    const path = join(folder, name)
    return statSync(path).isDirectory() ? deployFiles(path) : [relative(deployPath(), path)]
  })
}

/** The command of each process as an image runs it: the words of its Procfile line. */
export const imageCommands = (): ReadonlyMap<string, readonly string[]> =>
  new Map(readProcfile().map(({ name, args }) => [name, ['node', ...args]]))
