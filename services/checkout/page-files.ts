import { readdirSync, readFileSync } from 'node:fs'
import { extname, join } from 'node:path'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import type { Request, Response } from 'express'

const TYPES: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
}

/** A built file as it leaves, small for those who can read it so. */
interface BuiltFile {
  readonly type: string
  readonly plain: Buffer
  readonly br: Buffer
  readonly gzip: Buffer
}

/** The pages as they were built: one page for every address, and its scripts and styles. */
export interface PageFiles {
  /** The page in one of its languages. */
  readonly page: string
  /** Answers with a file of `/assets`; false when there is none of that name. */
  serveAsset(name: string, request: Request, response: Response): boolean
}

/** Reads the built pages once; they are a handful of files and never change. Null when they were not built. */
export function readPageFiles(pagesDir: string | null): PageFiles | null {
  if (pagesDir === null) return null
  const folder = join(pagesDir, 'checkout')
  const assets = new Map(readdirSync(join(folder, 'assets')).map((name) => [name, readBuilt(folder, name)]))
  return {
    page: readFileSync(join(folder, 'index.html'), 'utf8'),
    serveAsset(name, request, response) {
      const file = assets.get(name)
      if (file === undefined) return false
      const encoding = request.acceptsEncodings(['br', 'gzip', 'identity'])
      response.set({
        'Content-Type': file.type,
        'Cache-Control': 'public, max-age=31536000, immutable',
        Vary: 'Accept-Encoding',
      })
      if (encoding === 'br' || encoding === 'gzip') response.set('Content-Encoding', encoding).end(file[encoding])
      else response.end(file.plain)
      return true
    },
  }
}

function readBuilt(folder: string, name: string): BuiltFile {
  const plain = readFileSync(join(folder, 'assets', name))
  const type = TYPES[extname(name)] ?? 'application/octet-stream'
  return { type, plain, br: brotliCompressSync(plain), gzip: gzipSync(plain) }
}
