// Names of well-known packages, and the one that a new name resembles. A look-alike name is a usual way to ship malware.
import { nearest } from '../../system/nearest.ts'
import type { Ecosystem } from './package-list.ts'

const words = (text: string): readonly string[] => text.trim().split(/\s+/)

/** Much-used packages with names of four letters or more: a shorter name is one edit away from too many others. */
const WELL_KNOWN: Readonly<Partial<Record<Ecosystem, readonly string[]>>> = {
  npm: words(`
    react react-dom react-router react-router-dom react-redux react-query preact next nuxt vuex vue-router svelte
    angular express express-session fastify koa hapi lodash lodash-es underscore ramda axios node-fetch undici got
    request superagent moment dayjs date-fns luxon chalk colors commander yargs minimist inquirer prompts ora
    debug winston pino bunyan morgan dotenv cross-env cross-spawn execa shelljs rimraf mkdirp glob globby fast-glob
    minimatch chokidar webpack webpack-cli webpack-dev-server rollup vite esbuild parcel browserify babel-loader
    css-loader style-loader typescript ts-node tslib eslint prettier jest mocha chai sinon vitest jasmine karma
    cypress playwright puppeteer selenium-webdriver nodemon concurrently husky lint-staged semver uuid nanoid
    async bluebird rxjs immer zustand redux redux-thunk mobx graphql apollo-server socket.io socket.io-client
    mongoose mongodb mysql mysql2 pg-promise sequelize typeorm prisma knex sqlite3 better-sqlite3 redis ioredis
    bcrypt bcryptjs jsonwebtoken passport helmet cors body-parser cookie-parser multer formidable busboy
    nodemailer stripe aws-sdk firebase tailwindcss bootstrap jquery styled-components postcss autoprefixer
    sass less classnames clsx prop-types yup joi zod ajv validator handlebars mustache marked markdown-it
    highlight.js cheerio jsdom three chart.js electron sharp jimp canvas ws-server event-stream readable-stream
    safe-buffer inherits iconv-lite qs-middleware form-data mime mime-types js-yaml yaml xml2js fs-extra
    graceful-fs archiver adm-zip jszip uglify-js terser core-js regenerator-runtime left-pad is-promise
    color color-name color-convert color-string string-width wrap-ansi ansi-styles ansi-regex strip-ansi supports-color
    escape-string-regexp once wrappy lru-cache yallist picomatch micromatch braces fill-range is-glob is-number acorn
    esprima estraverse esutils espree resolve which signal-exit punycode signale source-map source-map-js buffer events
    util assert process path-parse path-to-regexp statuses depd etag fresh send serve-static accepts negotiator bytes
    content-type cookie vary parseurl media-typer type-is array-flatten object-assign isarray string_decoder tslint
    babel-core tape nopt tar text-table slash dotenv-expand parse5 entities fuse.js swiper history prism-react-renderer
    discord.js telegraf ethers web3 openai langchain crypto-js
  `),
  PyPI: words(`
    requests urllib3 numpy pandas scipy matplotlib seaborn scikit-learn tensorflow torch torchvision keras jax
    django flask fastapi starlette uvicorn gunicorn aiohttp httpx tornado bottle celery redis sqlalchemy alembic
    psycopg2 psycopg2-binary pymongo mysqlclient pymysql boto3 botocore awscli google-cloud-storage azure-core
    beautifulsoup4 lxml scrapy selenium playwright pillow opencv-python pydantic marshmallow attrs click typer
    rich colorama tqdm pytest pytest-cov pytest-mock coverage mypy black flake8 pylint isort ruff pre-commit
    setuptools wheel virtualenv pipenv poetry twine cryptography pycryptodome paramiko fabric ansible jinja2
    markupsafe werkzeug itsdangerous pyyaml toml python-dateutil pytz python-dotenv certifi chardet idna
    charset-normalizer jsonschema simplejson orjson ujson loguru sentry-sdk pyjwt passlib bcrypt stripe openai
    langchain transformers datasets tokenizers huggingface-hub nltk spacy gensim networkx sympy plotly dash
    streamlit gradio jupyter notebook ipython sphinx mkdocs websockets protobuf grpcio kafka-python psutil
  `),
  'crates.io': words(`
    serde serde_json serde_yaml tokio async-std futures hyper reqwest axum actix-web rocket warp tower clap
    structopt anyhow thiserror tracing tracing-subscriber env_logger rand rand_core regex lazy_static once_cell
    chrono time uuid bytes itertools rayon crossbeam parking_lot dashmap hashbrown indexmap diesel sqlx rusqlite
    redis toml quote proc-macro2 bitflags base64 sha2 ring rustls openssl libc nix tempfile walkdir crossterm
    indicatif criterion proptest insta wasm-bindgen bincode prost tonic rust_decimal num-traits smallvec
  `),
  RubyGems: words(`
    rails rake rspec rspec-rails rubocop bundler nokogiri devise sidekiq puma unicorn sinatra rack activerecord
    activesupport faraday httparty rest-client redis mysql2 sqlite3 capybara factory_bot_rails faker pundit
    cancancan kaminari jbuilder bootsnap webpacker sprockets turbolinks stripe aws-sdk minitest byebug
  `),
  Packagist: words(`
    laravel/framework symfony/console symfony/http-foundation symfony/yaml guzzlehttp/guzzle monolog/monolog
    phpunit/phpunit doctrine/orm twig/twig nesbot/carbon ramsey/uuid vlucas/phpdotenv league/flysystem
    phpstan/phpstan friendsofphp/php-cs-fixer predis/predis firebase/php-jwt psr/log
  `),
  NuGet: words(`
    Newtonsoft.Json Serilog AutoMapper Dapper xunit NUnit Moq FluentAssertions MediatR Polly Swashbuckle.AspNetCore
    Microsoft.EntityFrameworkCore Microsoft.Extensions.Logging NLog StackExchange.Redis RestSharp FluentValidation
  `),
  Go: words(`
    github.com/stretchr/testify github.com/gin-gonic/gin github.com/gorilla/mux github.com/spf13/cobra
    github.com/spf13/viper github.com/sirupsen/logrus go.uber.org/zap github.com/pkg/errors github.com/google/uuid
    gorm.io/gorm github.com/labstack/echo/v4 github.com/go-chi/chi/v5 github.com/lib/pq github.com/jackc/pgx/v5
    github.com/redis/go-redis/v9 google.golang.org/grpc github.com/golang-jwt/jwt/v5 github.com/prometheus/client_golang
  `),
}

/** A well-known package whose name differs from this one by a single edit, or by capitals, `-`, `_` and `.` only; null for none. */
export function resembles(name: string, ecosystem: Ecosystem): string | null {
  const known = WELL_KNOWN[ecosystem] ?? []
  if (known.includes(name) || name.length > MAX_LENGTH) return null
  const near = neighbours(ecosystem)
  const candidates = withoutOneLetter(fold(name)).flatMap((key) => near.get(key) ?? [])
  return (
    candidates.find((one) => fold(one) === fold(name)) ??
    // Within one slip for a name of any length.
    nearest(name, candidates, Math.max(SHORTEST, name.length))
  )
}

const MAX_LENGTH = 100
const SHORTEST = 4

const indexes = new Map<Ecosystem, ReadonlyMap<string, string[]>>()

/**
 * The well-known names by each text that one of them is, or becomes without one of its letters. Two names within one edit share
 * such a text, so that a lockfile of 100,000 names is compared in time.
 */
function neighbours(ecosystem: Ecosystem): ReadonlyMap<string, string[]> {
  const before = indexes.get(ecosystem)
  if (before !== undefined) return before
  const index = new Map<string, string[]>()
  for (const name of WELL_KNOWN[ecosystem] ?? [])
    if (name.length >= SHORTEST)
      for (const key of withoutOneLetter(fold(name))) index.set(key, [...(index.get(key) ?? []), name])
  indexes.set(ecosystem, index)
  return index
}

function withoutOneLetter(text: string): string[] {
  return [text, ...Array.from(text, (_, at) => text.slice(0, at) + text.slice(at + 1))]
}

/** `cross_env` and `crossenv` are read as `cross-env`. */
function fold(name: string): string {
  return name.toLowerCase().replace(/[-_.]/g, '')
}
