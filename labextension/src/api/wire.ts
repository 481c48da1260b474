/**
 * Responses of the server extension, generated from `python -m foldnote.lab.responses`. Do not edit: run `npm run wire`.
 */
export type paths = Record<string, never>;
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        /**
         * AccountResponse
         * @description The account of the API key; a value is null where unknown.
         */
        AccountResponse: {
            /**
             * Allowanceweightedhours
             * @default null
             */
            allowanceWeightedHours: number | null;
            /**
             * Budgetweightedhours
             * @default null
             */
            budgetWeightedHours: number | null;
            /**
             * Canclaim
             * @default false
             */
            canClaim: boolean;
            /**
             * Email
             * @default null
             */
            email: string | null;
            /**
             * Expiresat
             * @default null
             */
            expiresAt: string | null;
            /**
             * Haskey
             * @default true
             */
            hasKey: boolean;
            /**
             * Isclaimed
             * @default null
             */
            isClaimed: boolean | null;
            /**
             * Isownservice
             * @default false
             */
            isOwnService: boolean;
            /**
             * Jobsallowed
             * @default null
             */
            jobsAllowed: number | null;
            /**
             * Jobsleft
             * @default null
             */
            jobsLeft: number | null;
            /**
             * Spentweightedhours
             * @default null
             */
            spentWeightedHours: number | null;
            /**
             * Tier
             * @default null
             */
            tier: string | null;
            /**
             * Weightedhours
             * @default null
             */
            weightedHours: number | null;
        } & {
            [key: string]: unknown;
        };
        /**
         * AdviceResponse
         * @description Tools recommended for a described task, best first.
         */
        AdviceResponse: {
            /**
             * Abstain
             * @default false
             */
            abstain: boolean;
            /**
             * Summary
             * @default
             */
            summary: string;
            /**
             * Tools
             * @default []
             */
            tools: components["schemas"]["ToolAdvice"][];
        } & {
            [key: string]: unknown;
        };
        /**
         * BatchStatus
         * @description The states of a batch parent; the value is the word on the wire.
         * @enum {string}
         */
        BatchStatus: "In Queue" | "Running" | "Aggregating" | "Complete" | "Stopped" | "AggregationFailed";
        /**
         * Citation
         * @description The publication to cite.
         */
        Citation: {
            /**
             * Doi
             * @default null
             */
            doi: string | null;
            /**
             * Text
             * @default
             */
            text: string;
        } & {
            [key: string]: unknown;
        };
        /**
         * ConnectionVerdict
         * @description The outcome of a connection test.
         */
        ConnectionVerdict: {
            /** Isgood */
            isGood: boolean;
            /** Message */
            message: string;
        } & {
            [key: string]: unknown;
        };
        /**
         * EngineRecord
         * @description A program that runs tools on this computer.
         */
        EngineRecord: {
            /**
             * Addsto
             * @default []
             */
            addsTo: string[];
            /**
             * Diskmb
             * @default 0
             */
            diskMb: number;
            /**
             * Fraction
             * @default null
             */
            fraction: number | null;
            /**
             * Hasenvironment
             * @default true
             */
            hasEnvironment: boolean;
            /**
             * Hasfailed
             * @default false
             */
            hasFailed: boolean;
            /**
             * Hasfiles
             * @default false
             */
            hasFiles: boolean;
            /**
             * How
             * @default
             */
            how: string;
            /**
             * Installedmb
             * @default 0
             */
            installedMb: number;
            /**
             * Isbusy
             * @default false
             */
            isBusy: boolean;
            /**
             * Isinstalled
             * @default false
             */
            isInstalled: boolean;
            /**
             * Kind
             * @default genuine
             */
            kind: string;
            /**
             * Licence
             * @default
             */
            licence: string;
            /**
             * Licencenote
             * @default
             */
            licenceNote: string;
            /**
             * Message
             * @default
             */
            message: string;
            /** Method */
            method: string;
            /** Name */
            name: string;
            /**
             * Optionalmethod
             * @default
             */
            optionalMethod: string;
            /**
             * Terms
             * @default []
             */
            terms: components["schemas"]["EngineTermsRecord"][];
            /**
             * Tools
             * @default []
             */
            tools: string[];
            /**
             * Weights
             * @default []
             */
            weights: components["schemas"]["EngineWeightsRecord"][];
            /**
             * Weightsnote
             * @default
             */
            weightsNote: string;
        } & {
            [key: string]: unknown;
        };
        /**
         * EnginesResponse
         * @description The engines that are or can be installed on this computer.
         */
        EnginesResponse: {
            /**
             * Engines
             * @default []
             */
            engines: components["schemas"]["EngineRecord"][];
        } & {
            [key: string]: unknown;
        };
        /**
         * EngineTermsRecord
         * @description Terms that must be accepted before an engine or its weights are installed.
         */
        EngineTermsRecord: {
            /**
             * Accepted
             * @default null
             */
            accepted: string | null;
            /**
             * Isasked
             * @default false
             */
            isAsked: boolean;
            /**
             * Isoptional
             * @default false
             */
            isOptional: boolean;
            /**
             * Licence
             * @default
             */
            licence: string;
            /** Name */
            name: string;
            /**
             * Source
             * @default
             */
            source: string;
            /**
             * Url
             * @default
             */
            url: string;
            /**
             * User
             * @default
             */
            user: string;
        } & {
            [key: string]: unknown;
        };
        /**
         * EngineWeightsRecord
         * @description Weights that an engine downloads from their authors.
         */
        EngineWeightsRecord: {
            /** Host */
            host: string;
            /**
             * Isexact
             * @default false
             */
            isExact: boolean;
            /**
             * Isinstalled
             * @default false
             */
            isInstalled: boolean;
            /**
             * Isoptional
             * @default false
             */
            isOptional: boolean;
            /**
             * Licence
             * @default
             */
            licence: string;
            /** Name */
            name: string;
            /**
             * Sizebytes
             * @default 0
             */
            sizeBytes: number;
            /**
             * Source
             * @default
             */
            source: string;
        } & {
            [key: string]: unknown;
        };
        /**
         * FileRecord
         * @description One uploaded file.
         */
        FileRecord: {
            /** Fileid */
            fileId: string;
            /** Filename */
            fileName: string;
            /**
             * Filesize
             * @default null
             */
            fileSize: number | null;
            /**
             * Folder
             * @default null
             */
            folder: string | null;
            /**
             * Isfolder
             * @default false
             */
            isFolder: boolean;
            /** Name */
            name: string;
            /**
             * Uploadtime
             * @default null
             */
            uploadTime: string | null;
        } & {
            [key: string]: unknown;
        };
        /**
         * FilesResponse
         * @description One page of the account's files.
         */
        FilesResponse: {
            /**
             * Files
             * @default []
             */
            files: components["schemas"]["FileRecord"][];
            /**
             * Hasmore
             * @default false
             */
            hasMore: boolean;
            /**
             * Total
             * @default 0
             */
            total: number;
        } & {
            [key: string]: unknown;
        };
        /**
         * FormCellRecord
         * @description A cell that shows the form of one call in another cell.
         */
        FormCellRecord: {
            /** Code */
            code: string;
            /** Label */
            label: string;
            /**
             * Unread
             * @default []
             */
            unread: string[];
        } & {
            [key: string]: unknown;
        };
        /**
         * FormCellsResponse
         * @description The form of each call of a tool in a cell, in the order of the calls; at least one.
         */
        FormCellsResponse: {
            /** Cells */
            cells: components["schemas"]["FormCellRecord"][];
        } & {
            [key: string]: unknown;
        };
        /**
         * JobsResponse
         * @description All jobs that the poller knows, or those that have changed since the page's state.
         */
        JobsResponse: {
            /**
             * Iswhole
             * @default true
             */
            isWhole: boolean;
            /**
             * Jobs
             * @default []
             */
            jobs: components["schemas"]["PageJob"][];
            /**
             * Olderkey
             * @default null
             */
            olderKey: string | null;
            /**
             * Removed
             * @default []
             */
            removed: string[];
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
         * LogResponse
         * @description The end of one job's log.
         */
        LogResponse: {
            /** Log */
            log: string;
        } & {
            [key: string]: unknown;
        };
        /**
         * OlderResponse
         * @description A page of jobs that are not polled: older ones, or those of a batch or of other members.
         */
        OlderResponse: {
            /**
             * Jobs
             * @default []
             */
            jobs: components["schemas"]["PageJob"][];
            /**
             * Olderkey
             * @default null
             */
            olderKey: string | null;
        } & {
            [key: string]: unknown;
        };
        /**
         * PageJob
         * @description A job of the service, with the local data on it.
         */
        PageJob: {
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
            /**
             * Cpuseconds
             * @default null
             */
            cpuSeconds: number | null;
            /** Created */
            created?: string | null;
            /**
             * Email
             * @default null
             */
            email: string | null;
            /**
             * Engineversion
             * @default null
             */
            engineVersion: string | null;
            /**
             * Error
             * @default null
             */
            error: string | null;
            /**
             * Failed
             * @default null
             */
            failed: number | null;
            /**
             * Foldnote
             * @default null
             */
            foldnote: {
                [key: string]: unknown;
            } | null;
            /**
             * Isleaving
             * @default false
             */
            isLeaving: boolean;
            /** Jobname */
            jobName: string;
            /**
             * Locallabel
             * @default null
             */
            localLabel: string | null;
            /**
             * Message
             * @default null
             */
            message: string | null;
            /**
             * Note
             * @default null
             */
            note: string | null;
            /**
             * Notebook
             * @default null
             */
            notebook: string | null;
            /**
             * Peakgpumemorymb
             * @default null
             */
            peakGpuMemoryMb: number | null;
            /**
             * Peakmemorymb
             * @default null
             */
            peakMemoryMb: number | null;
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
             * Retries
             * @default null
             */
            retries: number | null;
            /**
             * Reusedfrom
             * @default null
             */
            reusedFrom: string | null;
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
             * Tags
             * @default []
             */
            tags: string[];
            /**
             * Tool
             * @default null
             */
            tool: string | null;
            /** Type */
            type: string;
            /**
             * Webhook
             * @default null
             */
            webhook: string | null;
            /**
             * Weightedhours
             * @default null
             */
            weightedHours: number | null;
        } & {
            [key: string]: unknown;
        };
        /**
         * ProfileRecord
         * @description One service that can be chosen.
         */
        ProfileRecord: {
            /**
             * Isactive
             * @default false
             */
            isActive: boolean;
            /** Name */
            name: string;
            /**
             * Url
             * @default null
             */
            url: string | null;
        } & {
            [key: string]: unknown;
        };
        /**
         * ProfilesResponse
         * @description The services that can be chosen.
         */
        ProfilesResponse: {
            /**
             * Profiles
             * @default []
             */
            profiles: components["schemas"]["ProfileRecord"][];
        } & {
            [key: string]: unknown;
        };
        /**
         * RecordResponse
         * @description One job.
         */
        RecordResponse: {
            /** @default null */
            job: components["schemas"]["PageJob"] | null;
        } & {
            [key: string]: unknown;
        };
        /**
         * ResultFileRecord
         * @description One file of a result.
         */
        ResultFileRecord: {
            /** Kind */
            kind: string;
            /** Name */
            name: string;
            /** Sizebytes */
            sizeBytes: number;
        } & {
            [key: string]: unknown;
        };
        /**
         * ResultResponse
         * @description A rendered result: the same HTML that a cell shows.
         */
        ResultResponse: {
            /**
             * Files
             * @default []
             */
            files: components["schemas"]["ResultFileRecord"][];
            /** Html */
            html: string;
            /**
             * Manifest
             * @default
             */
            manifest: string;
            /**
             * Settings
             * @default
             */
            settings: string;
            /** Title */
            title: string;
        } & {
            [key: string]: unknown;
        };
        /**
         * ServiceReport
         * @description The service that the response is about, and its state.
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
         * @description The state of the job service at the last request.
         * @enum {string}
         */
        ServiceState: "starting" | "ok" | "unreachable" | "unauthorized";
        /**
         * SettingsResponse
         * @description The settings that a job was submitted with.
         */
        SettingsResponse: {
            /** Settings */
            settings: string;
        } & {
            [key: string]: unknown;
        };
        /**
         * Share
         * @description A link to a job or batch of the user.
         */
        Share: {
            /**
             * Created
             * Format: date-time
             */
            created: string;
            /**
             * Expires
             * Format: date-time
             */
            expires: string;
            /** Jobname */
            jobName: string;
            /** Name */
            name: string;
            /**
             * Openings
             * @default []
             */
            openings: components["schemas"]["ShareOpening"][];
            /**
             * Organization
             * @default null
             */
            organization: string | null;
            /**
             * Url
             * @default null
             */
            url: string | null;
        } & {
            [key: string]: unknown;
        };
        /**
         * SharedResponse
         * @description The job that a colleague's link opens.
         */
        SharedResponse: {
            job: components["schemas"]["PageJob"];
            /** Mark */
            mark: string;
            result: components["schemas"]["ResultResponse"];
            /** Settings */
            settings: string;
            /** Url */
            url: string;
        } & {
            [key: string]: unknown;
        };
        /**
         * ShareOpening
         * @description A record that a colleague has opened a link.
         */
        ShareOpening: {
            /** Count */
            count: number;
            /** Email */
            email: string;
            /**
             * Last
             * Format: date-time
             */
            last: string;
        } & {
            [key: string]: unknown;
        };
        /**
         * SharesResponse
         * @description The account's valid links to one job, newest first; only a new link has its address.
         */
        SharesResponse: {
            /**
             * Shares
             * @default []
             */
            shares: components["schemas"]["Share"][];
        } & {
            [key: string]: unknown;
        };
        /**
         * StatusCounts
         * @description Numbers of jobs by status; all four keys are always present.
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
             * Extensions
             * @default []
             */
            extensions: string[];
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
         * ToolAdvice
         * @description One tool recommended for a described task.
         */
        ToolAdvice: {
            /**
             * Reason
             * @default
             */
            reason: string;
            /** Toolid */
            toolId: string;
        } & {
            [key: string]: unknown;
        };
        /**
         * ToolEngine
         * @description The program that runs a tool at a service, under its own name.
         */
        ToolEngine: {
            /**
             * Citation
             * @default null
             */
            citation: string | null;
            /**
             * Databases
             * @default []
             */
            databases: string[];
            /**
             * Fullversion
             * @default null
             */
            fullVersion: string | null;
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
             * Outputs
             * @default []
             */
            outputs: string[];
            /**
             * Version
             * @default null
             */
            version: string | null;
        } & {
            [key: string]: unknown;
        };
        /**
         * ToolInput
         * @description One setting of a tool, described in prose.
         */
        ToolInput: {
            /**
             * Default
             * @default
             */
            default: string;
            /**
             * Description
             * @default
             */
            description: string;
            /**
             * Isrequired
             * @default false
             */
            isRequired: boolean;
            /**
             * Kind
             * @default
             */
            kind: string;
            /** Name */
            name: string;
            /**
             * Title
             * @default
             */
            title: string;
        } & {
            [key: string]: unknown;
        };
        /**
         * ToolResponse
         * @description The settings, outputs and citation of one tool.
         */
        ToolResponse: {
            /** @default null */
            citation: components["schemas"]["Citation"] | null;
            /**
             * Inputs
             * @default []
             */
            inputs: components["schemas"]["ToolInput"][];
            /**
             * Outputs
             * @default []
             */
            outputs: string[];
            /** Type */
            type: string;
        } & {
            [key: string]: unknown;
        };
        /**
         * ToolsResponse
         * @description The service's catalog, without the schemas.
         */
        ToolsResponse: {
            service: components["schemas"]["ServiceReport"];
            /**
             * Tools
             * @default []
             */
            tools: components["schemas"]["Tool"][];
        } & {
            [key: string]: unknown;
        };
        /**
         * UploadResponse
         * @description The progress of an upload.
         */
        UploadResponse: {
            /** Id */
            id: string;
            /**
             * Path
             * @default null
             */
            path: string | null;
            /** Receivedbytes */
            receivedBytes: number;
            /**
             * Sentbytes
             * @default null
             */
            sentBytes: number | null;
            /** Sizebytes */
            sizeBytes: number;
            /**
             * Waiting
             * @default null
             */
            waiting: string | null;
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
