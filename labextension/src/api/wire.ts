/**
 * What the server extension answers, generated from `python -m foldnote.lab.answers`. Do not edit: run `npm run wire`.
 */
export type paths = Record<string, never>;
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        /**
         * BatchStatus
         * @description The states of a batch parent; the value is the word on the wire.
         * @enum {string}
         */
        BatchStatus: "In Queue" | "Running" | "Aggregating" | "Complete" | "Stopped" | "AggregationFailed";
        /**
         * Job
         * @description One job, or the parent of a batch.
         */
        Job: {
            /**
             * Batch
             * @default null
             */
            batch: string | null;
            /**
             * Batchsize
             * @default null
             */
            batchSize: number | null;
            /** @default null */
            batchStatus: components["schemas"]["BatchStatus"] | null;
            /** Completed */
            completed?: string | null;
            /** Created */
            created?: string | null;
            /**
             * Email
             * @default null
             */
            email: string | null;
            /**
             * Error
             * @default null
             */
            error: string | null;
            /** Jobname */
            jobName: string;
            /**
             * Message
             * @default null
             */
            message: string | null;
            /**
             * Progress
             * @default null
             */
            progress: number | null;
            /**
             * Projecttag
             * @default null
             */
            projectTag: string | null;
            /**
             * Resulturl
             * @default null
             */
            resultUrl: string | null;
            /**
             * Score
             * @default null
             */
            score: {
                [key: string]: unknown;
            } | null;
            /** Settings */
            settings?: {
                [key: string]: unknown;
            };
            /** Started */
            started?: string | null;
            status: components["schemas"]["JobStatus"];
            /** @default null */
            statuses: components["schemas"]["StatusCounts"] | null;
            /**
             * Tool
             * @default null
             */
            tool: string | null;
            /** Type */
            type: string;
            /**
             * Weightedhours
             * @default null
             */
            weightedHours: number | null;
        } & {
            [key: string]: unknown;
        };
        /**
         * JobsAnswer
         * @description Every job that the poller knows, newest first.
         */
        JobsAnswer: {
            /**
             * Jobs
             * @default []
             */
            jobs: components["schemas"]["Job"][];
            service: components["schemas"]["ServiceReport"];
            statuses?: components["schemas"]["StatusCounts"];
        } & {
            [key: string]: unknown;
        };
        /**
         * JobStatus
         * @description The four statuses of the interface; the value is the word on the wire.
         * @enum {string}
         */
        JobStatus: "In Queue" | "Running" | "Complete" | "Stopped";
        /**
         * LogAnswer
         * @description The end of one job's log.
         */
        LogAnswer: {
            /** Log */
            log: string;
        } & {
            [key: string]: unknown;
        };
        /**
         * ServiceReport
         * @description Which service the answer is about, and how it is.
         */
        ServiceReport: {
            /**
             * Error
             * @default null
             */
            error: string | null;
            /** Isembedded */
            isEmbedded: boolean;
            /**
             * Lastgood
             * @default null
             */
            lastGood: string | null;
            /** Profile */
            profile: string;
            state: components["schemas"]["ServiceState"];
            /**
             * Url
             * @default null
             */
            url: string | null;
        } & {
            [key: string]: unknown;
        };
        /**
         * ServiceState
         * @description How the job service was at the last attempt to reach it.
         * @enum {string}
         */
        ServiceState: "starting" | "ok" | "unreachable" | "unauthorized";
        /**
         * StatusCounts
         * @description Jobs by status; all four keys are always there.
         */
        StatusCounts: {
            /**
             * Complete
             * @default 0
             */
            Complete: number;
            /**
             * In Queue
             * @default 0
             */
            "In Queue": number;
            /**
             * Running
             * @default 0
             */
            Running: number;
            /**
             * Stopped
             * @default 0
             */
            Stopped: number;
        } & {
            [key: string]: unknown;
        };
        /**
         * Tool
         * @description One row of the catalog.
         */
        Tool: {
            /**
             * Available
             * @default false
             */
            available: boolean;
            /**
             * Description
             * @default
             */
            description: string;
            /**
             * Displayname
             * @default
             */
            displayName: string;
            /** @default null */
            engine: components["schemas"]["ToolEngine"] | null;
            /**
             * Examplejob
             * @default null
             */
            exampleJob: {
                [key: string]: unknown;
            } | null;
            /**
             * Family
             * @default
             */
            family: string;
            /**
             * Functions
             * @default []
             */
            functions: string[];
            /**
             * Modalities
             * @default []
             */
            modalities: string[];
            /**
             * Name
             * @default
             */
            name: string;
            /** Schema */
            schema?: {
                [key: string]: unknown;
            };
            /** Type */
            type: string;
            /**
             * Unavailablereason
             * @default null
             */
            unavailableReason: string | null;
        } & {
            [key: string]: unknown;
        };
        /**
         * ToolEngine
         * @description The program that runs a tool at one service, called by its own name.
         */
        ToolEngine: {
            /**
             * Citation
             * @default null
             */
            citation: string | null;
            /**
             * Kind
             * @default genuine
             */
            kind: string;
            /**
             * Licence
             * @default null
             */
            licence: string | null;
            /** Method */
            method: string;
            /** Name */
            name: string;
            /**
             * Note
             * @default null
             */
            note: string | null;
            /**
             * Version
             * @default null
             */
            version: string | null;
        } & {
            [key: string]: unknown;
        };
        /**
         * ToolsAnswer
         * @description The service's catalog, without the schemas.
         */
        ToolsAnswer: {
            service: components["schemas"]["ServiceReport"];
            /**
             * Tools
             * @default []
             */
            tools: components["schemas"]["Tool"][];
        } & {
            [key: string]: unknown;
        };
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export type operations = Record<string, never>;
