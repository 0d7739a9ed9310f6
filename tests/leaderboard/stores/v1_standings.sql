BEGIN TRANSACTION;
CREATE TABLE meta (
	"key" VARCHAR(64) NOT NULL, 
	value TEXT NOT NULL, 
	PRIMARY KEY ("key")
);
INSERT INTO "meta" VALUES('schema','1');
CREATE TABLE results (
	seq INTEGER NOT NULL, 
	id TEXT NOT NULL, 
	created TEXT NOT NULL, 
	problem TEXT NOT NULL, 
	problem_hash TEXT NOT NULL, 
	dtype TEXT NOT NULL, 
	device_kind TEXT NOT NULL, 
	device_name TEXT NOT NULL, 
	verdict TEXT NOT NULL, 
	author TEXT NOT NULL, 
	solution_hash TEXT NOT NULL, 
	harness_version TEXT NOT NULL, 
	checksum VARCHAR(64) NOT NULL, 
	record TEXT NOT NULL, 
	PRIMARY KEY (seq), 
	UNIQUE (id)
);
INSERT INTO "results" VALUES(1,'one','2026-03-01T12:00:00.000005+00:00','gemm','p1','float32','cuda','NVIDIA H100 80GB HBM3','ACCEPTED','ann','c34110b5801f7a33d72f2153742263e1daf4f9b490df60ee467e6ded0d98f2ab','0.1.0','e08897ca9276d05296312f28dad6169aa5fc6915f7705d6bd6bd743329bc6b8f','{"schema":1,"id":"one","created":"2026-03-01T12:00:00.000005Z","problem":{"slug":"gemm","title":"Matrix product","hash":"p1"},"solution":{"author":"ann","name":"tiled.cu","language":"cuda","hash":"c34110b5801f7a33d72f2153742263e1daf4f9b490df60ee467e6ded0d98f2ab","path":"solutions/gemm/ann/tiled.cu"},"language":"cuda","dtype":"float32","device":{"kind":"cuda","name":"NVIDIA H100 80GB HBM3"},"verdict":"ACCEPTED","message":"","reproduce":"harness submit tiled.cu --seed 123456789","seed":"123456789","cases":[{"spec":"m=1,n=1,k=1,alpha=0.0","passed":true,"seconds":0.001,"message":"","mismatch":null}],"shrunk":null,"build":{"seconds":1.1,"cached":false,"target":"sm_90","log":"","kernels":[{"name":"tiled","registers":64,"shared_bytes":8192,"spill_store_bytes":0,"spill_load_bytes":0,"threads":null,"occupancy":[]}]},"measurements":[{"spec":"m=4096,n=4096,k=4096,alpha=0.01","time_s":{"value":0.0000123,"low":0.000012275424583608198,"high":0.000012324624616408205},"baseline_s":{"value":0.0000246,"low":0.000024550849167216396,"high":0.00002464924923281641},"speedup":{"value":2.0,"low":1.992015978687983,"high":2.008016021354684},"calls_per_batch":64,"captured":true,"kernels":null,"baseline_kernels":null,"overhead_s":0.00015,"samples_s":[0.0000123,0.000012312299999999999],"baseline_samples_s":[0.0000246,0.0000246],"flops":137438953472.0,"bytes":201326592.0,"alone_s":null,"light_s":null,"others":[]}],"score":{"baseline":"PyTorch eager","speedup":{"value":2.0,"low":1.9960039973346662,"high":2.0040040026680006},"time_s":0.0000123,"ranked":true,"unranked_reason":"","others":[]},"conditions":null,"profile":null,"output":"","notes":[],"environment":{"harness":"0.1.0","python":"3.11.9","platform":"Linux","torch":"","triton":"","driver":"","toolkit":"","sandbox":""}}');
INSERT INTO "results" VALUES(2,'two','2026-03-01T12:01:00.000005+00:00','gemm','p1','float32','cuda','NVIDIA H100 80GB HBM3','ACCEPTED','bob','s1','0.1.0','4ff84dc2bed2a1df34e3ec74514c6d93732d0478ae3e6acf8fa3e8775f1a7358','{"schema":1,"id":"two","created":"2026-03-01T12:01:00.000005Z","problem":{"slug":"gemm","title":"Matrix product","hash":"p1"},"solution":{"author":"bob","name":"fast.cu","language":"cuda","hash":"s1","path":"solutions/gemm/bob/fast.cu"},"language":"cuda","dtype":"float32","device":{"kind":"cuda","name":"NVIDIA H100 80GB HBM3"},"verdict":"ACCEPTED","message":"","reproduce":"harness submit tiled.cu --seed 123456789","seed":"123456789","cases":[{"spec":"m=1,n=1,k=1,alpha=0.0","passed":true,"seconds":0.001,"message":"","mismatch":null}],"shrunk":null,"build":{"seconds":1.1,"cached":false,"target":"sm_90","log":"","kernels":[{"name":"tiled","registers":64,"shared_bytes":8192,"spill_store_bytes":0,"spill_load_bytes":0,"threads":null,"occupancy":[]}]},"measurements":[{"spec":"m=4096,n=4096,k=4096,alpha=0.01","time_s":{"value":0.0000123,"low":0.000012275424583608198,"high":0.000012324624616408205},"baseline_s":{"value":0.0000369,"low":0.00003682627375082459,"high":0.000036973873849224616},"speedup":{"value":3.0,"low":2.9880239680319747,"high":3.0120240320320257},"calls_per_batch":64,"captured":true,"kernels":null,"baseline_kernels":null,"overhead_s":0.00015,"samples_s":[0.0000123,0.000012312299999999999],"baseline_samples_s":[0.0000369,0.0000369],"flops":137438953472.0,"bytes":201326592.0,"alone_s":null,"light_s":null,"others":[]}],"score":{"baseline":"PyTorch eager","speedup":{"value":3.0,"low":2.994005996001999,"high":3.0060060040020007},"time_s":0.0000123,"ranked":true,"unranked_reason":"","others":[]},"conditions":null,"profile":null,"output":"","notes":[],"environment":{"harness":"0.1.0","python":"3.11.9","platform":"Linux","torch":"","triton":"","driver":"","toolkit":"","sandbox":""}}');
INSERT INTO "results" VALUES(3,'three','2026-03-01T12:02:00.000005+00:00','gemm','p1','float32','cuda','NVIDIA H100 80GB HBM3','WRONG_ANSWER','cyd','s2','0.1.0','457780531468de9302005299f9dd73f96bc55f5faf17aa202b317127f36087a4','{"schema":1,"id":"three","created":"2026-03-01T12:02:00.000005Z","problem":{"slug":"gemm","title":"Matrix product","hash":"p1"},"solution":{"author":"cyd","name":"tiled.cu","language":"cuda","hash":"s2","path":"solutions/gemm/cyd/tiled.cu"},"language":"cuda","dtype":"float32","device":{"kind":"cuda","name":"NVIDIA H100 80GB HBM3"},"verdict":"WRONG_ANSWER","message":"wrong","reproduce":"harness submit tiled.cu --seed 123456789","seed":"123456789","cases":[{"spec":"m=33,n=1,k=7,alpha=-0.5","passed":false,"seconds":null,"message":"c differs","mismatch":{"parameter":"c","differing":12,"total":33,"first":{"index":[0,3],"expected":1.25,"got":1.5,"allowed":0.00001,"expected_imag":null,"got_imag":null},"worst":{"index":[4,0],"expected":-2.0,"got":"NaN","allowed":0.00002,"expected_imag":null,"got_imag":null}}}],"shrunk":null,"build":{"seconds":1.1,"cached":false,"target":"sm_90","log":"","kernels":[{"name":"tiled","registers":64,"shared_bytes":8192,"spill_store_bytes":0,"spill_load_bytes":0,"threads":null,"occupancy":[]}]},"measurements":[],"score":null,"conditions":null,"profile":null,"output":"","notes":[],"environment":{"harness":"0.1.0","python":"3.11.9","platform":"Linux","torch":"","triton":"","driver":"","toolkit":"","sandbox":""}}');
CREATE TABLE standings (
	seq BIGINT NOT NULL, 
	problem TEXT NOT NULL, 
	form INTEGER NOT NULL, 
	checksum VARCHAR(64) NOT NULL, 
	standing TEXT NOT NULL, 
	PRIMARY KEY (seq)
);
INSERT INTO "standings" VALUES(1,'gemm',1,'13096bf607dc0ed2eaf4f2f62583873440f39e6f09b31514471e0cc9db164b72','["gemm", "float32", "cuda", "NVIDIA H100 80GB HBM3", "0", "PyTorch eager", "ann", "tiled.cu", "cuda", 12.3, 2.0, 1.9960039973346662, 2.0040040026680006, "", "2026-03-01T12:00:00.000005+00:00", "p1", "c34110b5801f7a33d72f2153742263e1daf4f9b490df60ee467e6ded0d98f2ab", "0.1.0", "one", NaN, true, true]');
INSERT INTO "standings" VALUES(2,'gemm',1,'bf978a5f773a75594800eae7c1a0e19d884f1fe63c134049e6e967667472752b','["gemm", "float32", "cuda", "NVIDIA H100 80GB HBM3", "0", "PyTorch eager", "bob", "fast.cu", "cuda", 12.3, 3.0, 2.994005996001999, 3.0060060040020007, "", "2026-03-01T12:01:00.000005+00:00", "p1", "s1", "0.1.0", "two", NaN, true, true]');
INSERT INTO "standings" VALUES(3,'gemm',1,'4590d8d39100e7b558d804e5c29c241283909662cd242feb8b162ad03bbff872','["gemm", "float32", "cuda", "NVIDIA H100 80GB HBM3", "0", "", "cyd", "tiled.cu", "cuda", NaN, NaN, NaN, NaN, "not timed", "2026-03-01T12:02:00.000005+00:00", "p1", "s2", "0.1.0", "three", NaN, false, true]');
CREATE INDEX results_by_problem ON results (problem, seq);
COMMIT;
