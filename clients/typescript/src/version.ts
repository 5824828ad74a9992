/** Version of this package, as its package.json has it; sent in `User-Agent`. */
export const CLIENT_VERSION = '0.1.0'
