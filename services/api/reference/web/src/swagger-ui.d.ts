declare module 'swagger-ui-dist/swagger-ui-es-bundle.js' {
  import type { ReferencePlugin } from './reference-plugin.ts'

  /** The options in use, of https://swagger.io/docs/open-source-tools/swagger-ui/usage/configuration/. */
  interface SwaggerOptions {
    readonly url: string
    readonly dom_id: string
    readonly deepLinking: boolean
    readonly filter: boolean
    readonly docExpansion: 'list'
    /** Methods with a button that sends a request; none here. */
    readonly supportedSubmitMethods: readonly string[]
    /** A third-party host that would validate the document. */
    readonly validatorUrl: null
    readonly plugins: readonly ReferencePlugin[]
  }
  // biome-ignore lint/style/noDefaultExport: the library's own form.
  export default function SwaggerUI(options: SwaggerOptions): void
}
