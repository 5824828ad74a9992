import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import type { Shell } from './shell.ts'

/** The document from which every client is generated. */
export const DOCUMENT = resolve('docs/openapi.json')
const STORIES = resolve('dev/generators/stories')
const OPENAPI_GENERATOR = '7.19.0'
const OAPI_CODEGEN = 'v2.8.2'
const OGEN = 'v1.25.0'
const OPENAPI_PYTHON_CLIENT = '0.29.1'
const DATAMODEL_CODE_GENERATOR = '0.89.0'
const OPENAPI_TO_POSTMAN = '6.3.3'
const NEWMAN = '6.2.2'

/** A generator: the tools it needs, and the generation and story; the result is the last line that the story printed. */
export interface Generator {
  readonly name: string
  readonly needs: readonly string[]
  run(shell: Shell, folder: string): Promise<string>
}

/** Generates a client with its default settings but these: names of the package, and for C# the library that mono can compile. */
async function openapiGenerator(shell: Shell, language: string, folder: string, settings: string): Promise<void> {
  const work = dirname(folder)
  const jar = join(work, `openapi-generator-cli-${OPENAPI_GENERATOR}.jar`)
  if (!existsSync(jar)) {
    const artifact = `org.openapitools:openapi-generator-cli:${OPENAPI_GENERATOR}`
    await shell.run(work, 'mvn', '-q', 'dependency:copy', `-Dartifact=${artifact}`, `-DoutputDirectory=${work}`)
  }
  const input = ['-i', DOCUMENT, '-g', language, '-o', folder]
  await shell.run(work, 'java', '-jar', jar, 'generate', ...input, `--additional-properties=${settings}`)
}

/** Puts a story beside a generated Go client and runs it. */
async function runGo(shell: Shell, client: string, story: string): Promise<string> {
  await shell.run(client, 'go', 'mod', 'edit', '-module', 'example.com/paymesh')
  const folder = join(client, 'story')
  mkdirSync(folder)
  cpSync(join(STORIES, story), join(folder, 'main.go'))
  writeFileSync(
    join(folder, 'go.mod'),
    'module example.com/story\n\ngo 1.24\n\nrequire example.com/paymesh v0.0.0\nreplace example.com/paymesh => ../\n',
  )
  await shell.run(folder, 'go', 'mod', 'tidy')
  return await shell.run(folder, 'go', 'run', '.')
}

/** A virtual environment with packages from PyPI. */
async function python(shell: Shell, folder: string, ...packages: readonly string[]): Promise<string> {
  await shell.run(folder, 'python3', '-m', 'venv', 'venv')
  await shell.run(folder, 'venv/bin/pip', 'install', '-q', ...packages)
  return join(folder, 'venv', 'bin')
}

const NEWTONSOFT = '/usr/lib/cli/Newtonsoft.Json-5.0'
const ASSEMBLIES = [
  ...['System.Net.Http', 'System.Web', 'System.ComponentModel.DataAnnotations', 'System.Runtime.Serialization'],
  join(NEWTONSOFT, 'Newtonsoft.Json.dll'),
]

/**
 * Compiles a client with mono, the C# of Debian: the SDK of .NET is in none of its packages. Its Json.NET is of 2014 and has no naming
 * strategies; every field of the client has its name as an attribute, so nothing depends on one.
 */
async function runCsharp(shell: Shell, folder: string): Promise<string> {
  const settings = 'packageName=Paymesh,library=httpclient,targetFramework=net48,supportsRetry=false'
  await openapiGenerator(shell, 'csharp', folder, settings)
  const source = join(folder, 'src/Paymesh')
  const files = readdirSync(source, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.cs'))
  for (const file of files.map((name) => join(source, name))) {
    const [first, ...others] = readFileSync(file, 'utf8').split('NamingStrategy = new CamelCaseNamingStrategy')
    writeFileSync(file, [first, ...others.map((part) => part.slice(part.indexOf('}') + 1))].join(''))
  }
  const story = join(STORIES, 'openapi_generator.cs')
  const program = ['-langversion:latest', '-out:story.exe', `-r:${ASSEMBLIES.join(',')}`, story]
  await shell.run(folder, 'mcs', ...program, ...files.map((name) => join(source, name)))
  return await shell.run(folder, 'env', `MONO_PATH=${NEWTONSOFT}`, 'mono', 'story.exe')
}

/** Every generator that the deep stage `clients` tries. */
export const GENERATORS: readonly Generator[] = [
  {
    name: `openapi-generator ${OPENAPI_GENERATOR}, Python`,
    needs: ['mvn', 'java', 'python3'],
    run: async (shell, folder) => {
      await openapiGenerator(shell, 'python', folder, 'packageName=paymesh')
      const bin = await python(shell, folder, '.')
      return await shell.run(folder, join(bin, 'python'), join(STORIES, 'openapi_generator.py'))
    },
  },
  {
    name: `openapi-generator ${OPENAPI_GENERATOR}, Go`,
    needs: ['mvn', 'java', 'go'],
    run: async (shell, folder) => {
      await openapiGenerator(shell, 'go', folder, 'packageName=paymesh')
      // Its example tests import a module name that exists nowhere.
      rmSync(join(folder, 'test'), { recursive: true })
      return await runGo(shell, folder, 'openapi_generator.go')
    },
  },
  {
    name: `openapi-generator ${OPENAPI_GENERATOR}, PHP`,
    needs: ['mvn', 'java', 'php'],
    run: async (shell, folder) => {
      await openapiGenerator(shell, 'php', folder, 'invokerPackage=Paymesh')
      const sources = readdirSync(join(folder, 'lib'), { recursive: true, encoding: 'utf8' })
      for (const file of sources.filter((name) => name.endsWith('.php')))
        await shell.run(folder, 'php', '-l', join('lib', file))
      // Guzzle as Debian installs it (php-guzzlehttp-guzzle).
      return await shell.run(folder, 'php', '-d', 'include_path=/usr/share/php', join(STORIES, 'openapi_generator.php'))
    },
  },
  {
    name: `openapi-generator ${OPENAPI_GENERATOR}, Ruby`,
    needs: ['mvn', 'java', 'ruby'],
    run: async (shell, folder) => {
      await openapiGenerator(shell, 'ruby', folder, 'gemName=paymesh')
      // Typhoeus as Debian installs it (ruby-typhoeus).
      return await shell.run(folder, 'ruby', '-I', 'lib', join(STORIES, 'openapi_generator.rb'))
    },
  },
  {
    name: `openapi-generator ${OPENAPI_GENERATOR}, Java`,
    needs: ['mvn', 'javac'],
    run: async (shell, folder) => {
      await openapiGenerator(shell, 'java', folder, 'hideGenerationTimestamp=true')
      cpSync(join(STORIES, 'OpenapiGenerator.java'), join(folder, 'src/main/java/OpenapiGenerator.java'))
      const classpath = join(folder, 'classpath')
      await shell.run(folder, 'mvn', '-q', 'compile', 'dependency:build-classpath', `-Dmdep.outputFile=${classpath}`)
      const classes = `target/classes:${readFileSync(classpath, 'utf8')}`
      return await shell.run(folder, 'java', '-cp', classes, 'OpenapiGenerator')
    },
  },
  {
    name: `openapi-generator ${OPENAPI_GENERATOR}, C# (httpclient, mono)`,
    needs: ['mvn', 'java', 'mcs', 'mono'],
    run: runCsharp,
  },
  {
    name: `oapi-codegen ${OAPI_CODEGEN}, Go`,
    needs: ['go'],
    run: async (shell, folder) => {
      writeFileSync(join(folder, 'go.mod'), 'module example.com/client\n\ngo 1.24\n')
      const tool = `github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@${OAPI_CODEGEN}`
      const options = ['-generate', 'types,client', '-package', 'client']
      const source = await shell.run(dirname(folder), 'go', 'run', tool, ...options, DOCUMENT)
      writeFileSync(join(folder, 'client.go'), source)
      await shell.run(folder, 'go', 'mod', 'tidy')
      await shell.run(folder, 'go', 'vet', './...')
      return await runGo(shell, folder, 'oapi_codegen.go')
    },
  },
  {
    name: `ogen ${OGEN}, Go`,
    needs: ['go'],
    run: async (shell, folder) => {
      writeFileSync(join(folder, 'go.mod'), 'module example.com/client\n\ngo 1.24\n')
      const tool = `github.com/ogen-go/ogen/cmd/ogen@${OGEN}`
      await shell.run(folder, 'go', 'run', tool, '--target', 'client', '--package', 'client', DOCUMENT)
      await shell.run(folder, 'go', 'mod', 'tidy')
      return await runGo(shell, folder, 'ogen.go')
    },
  },
  {
    name: `openapi-python-client ${OPENAPI_PYTHON_CLIENT}, Python`,
    needs: ['python3'],
    run: async (shell, folder) => {
      const bin = await python(shell, folder, `openapi-python-client==${OPENAPI_PYTHON_CLIENT}`, 'ruff')
      const generate = [join(bin, 'openapi-python-client'), 'generate', '--path', DOCUMENT, '--output-path', 'client']
      await shell.run(folder, 'env', `PATH=${bin}:${process.env['PATH']}`, ...generate)
      const story = join(STORIES, 'openapi_python_client.py')
      return await shell.run(folder, 'env', `PYTHONPATH=${join(folder, 'client')}`, join(bin, 'python'), story)
    },
  },
  {
    name: `datamodel-code-generator ${DATAMODEL_CODE_GENERATOR}, Python`,
    needs: ['python3'],
    run: async (shell, folder) => {
      const bin = await python(shell, folder, `datamodel-code-generator==${DATAMODEL_CODE_GENERATOR}`, 'pydantic>=2')
      // Without the first option, the enumeration in the field `events` takes the name of the component `Event`.
      const options = ['--parent-scoped-naming', '--output-model-type', 'pydantic_v2.BaseModel']
      const input = ['--input', DOCUMENT, '--input-file-type', 'openapi', '--output', 'models.py']
      await shell.run(folder, join(bin, 'datamodel-codegen'), ...input, ...options)
      const story = join(STORIES, 'datamodel_code_generator.py')
      return await shell.run(folder, 'env', `PYTHONPATH=${folder}`, join(bin, 'python'), story)
    },
  },
  {
    name: `Postman import (openapi-to-postmanv2 ${OPENAPI_TO_POSTMAN}, newman ${NEWMAN})`,
    needs: ['npm'],
    run: async (shell, folder) => await runPostman(shell, folder, `openapi-to-postmanv2@${OPENAPI_TO_POSTMAN}`),
  },
  {
    name: `Postman collection (docs/postman.json, newman ${NEWMAN})`,
    needs: ['npm'],
    run: async (shell, folder) => await runPostman(shell, folder, null),
  },
]

/** Postman's runner, with the collection that `converter` makes of the document, or with the one that is committed. */
async function runPostman(shell: Shell, folder: string, converter: string | null): Promise<string> {
  writeFileSync(join(folder, 'package.json'), '{ "private": true }')
  const packages = [`newman@${NEWMAN}`, ...(converter === null ? [] : [converter])]
  await shell.run(folder, 'npm', 'install', '--silent', '--no-audit', '--no-fund', ...packages)
  const collection = converter === null ? [resolve('docs/postman.json')] : []
  return await shell.run(folder, process.execPath, join(STORIES, 'postman.mjs'), ...collection)
}
